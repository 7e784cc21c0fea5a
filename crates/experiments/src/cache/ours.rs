//! Our own cache, in this process, with a runtime of its own.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use trueplane_cache::{PolicyName, Stats};
use trueplane_proxy::{OriginUrl, Proxy, Settings};

/// Time that connections get to end.
const GRACE: Duration = Duration::from_secs(1);

/// A running cache. It ends when it is dropped.
pub(super) struct Ours {
    pub(super) address: SocketAddr,
    proxy: Proxy,
    stop: Option<oneshot::Sender<()>>,
    runtime: Option<Runtime>,
}

impl Ours {
    /// Starts a cache in front of `origin` on a port of the loopback interface.
    pub(super) fn start(origin: SocketAddr, memory: u64, policy: PolicyName) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread().enable_all().build()?;
        let origin: OriginUrl = format!("http://{origin}").parse().map_err(io::Error::other)?;
        let mut settings = Settings::new(origin, memory);
        settings.cache.policy = policy;
        let (stop, stopped) = oneshot::channel();
        let (address, proxy) = runtime.block_on(async {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
            let address = listener.local_addr()?;
            let proxy = Proxy::new(&settings).map_err(io::Error::other)?;
            let serves = proxy.clone();
            tokio::spawn(async move {
                // Who stops it may have gone.
                let stopped = async { drop(stopped.await) };
                serves.serve(listener, stopped).await;
            });
            io::Result::Ok((address, proxy))
        })?;
        Ok(Self { address, proxy, stop: Some(stop), runtime: Some(runtime) })
    }

    /// What the cache says that it did.
    pub(super) fn stats(&self) -> Stats {
        self.proxy.stats()
    }

    /// Bytes that what is stored takes.
    pub(super) fn used(&self) -> u64 {
        self.proxy.used()
    }
}

impl Drop for Ours {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(GRACE);
        }
    }
}
