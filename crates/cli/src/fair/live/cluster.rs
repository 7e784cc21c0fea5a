//! Which cluster, and where in it the controller keeps what is its own.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use trueplane_kubernetes::kube::config::{KubeConfigOptions, Kubeconfig};
use trueplane_kubernetes::kube::{Client, Config};
use trueplane_units::{parameters, text_value};

use crate::failure::Failure;

/// A name as Kubernetes allows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name(pub(super) String);

impl FromStr for Name {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let is_edge = |byte: Option<&u8>| byte.is_some_and(|&byte| byte != b'-');
        let bytes = text.as_bytes();
        if bytes.len() <= 63
            && bytes.iter().all(|&byte| fits(byte))
            && is_edge(bytes.first())
            && is_edge(bytes.last())
        {
            return Ok(Self(text.to_owned()));
        }
        Err(format!("expected up to 63 lower-case letters, digits and -, got \"{}\"", text.escape_debug()))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

text_value!(Name, "a name such as trueplane");

/// The name of a context, which may be any text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Context(String);

impl FromStr for Context {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            Err("expected a context, got none".to_owned())
        } else {
            Ok(Self(text.to_owned()))
        }
    }
}

impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

text_value!(Context, "a context of the kubeconfig");

parameters! {
    /// Which cluster, and where in it the controller keeps what is its own.
    #[derive(Clone, Debug)]
    pub(super) struct Cluster {
        /// Kubeconfig of the cluster.
        kubeconfig: Option<PathBuf> =>
            { value: "FILE", default_words: "in a pod its service account, else $KUBECONFIG or ~/.kube/config" },
        /// Context of the kubeconfig.
        context: Option<Context> => { value: "CONTEXT", default_words: "the current one" },
        /// Namespace of the controller's Lease and ConfigMap.
        pub namespace: Name => { value: "NAMESPACE", default: "trueplane" },
        /// Name of the Lease and of the ConfigMap.
        pub name: Name => { value: "OBJECT", default: "trueplane-fair" },
    }
}

impl Cluster {
    /// A client of the cluster.
    pub(super) async fn client(&self) -> Result<Client, Failure> {
        let is_named = self.kubeconfig.is_some() || self.context.is_some();
        let hint = if is_named { "" } else { "; name one with --kubeconfig FILE" };
        let wrong =
            |error: &dyn fmt::Display| Failure::input(format!("cannot use the kubeconfig: {error}{hint}"));
        let context = self.context.as_ref().map(|context| context.0.clone());
        let options = KubeConfigOptions { context: context.clone(), ..KubeConfigOptions::default() };
        let mut config = match &self.kubeconfig {
            Some(path) => {
                let read = Kubeconfig::read_from(path).map_err(|error| wrong(&error))?;
                Config::from_custom_kubeconfig(read, &options).await.map_err(|error| wrong(&error))?
            }
            None if context.is_some() => {
                Config::from_kubeconfig(&options).await.map_err(|error| wrong(&error))?
            }
            None => Config::infer().await.map_err(|error| wrong(&error))?,
        };
        // The controller tries again by itself, and knows what else there is to do meanwhile.
        config.default_retry = false;
        Client::try_from(config).map_err(|error| wrong(&error))
    }
}
