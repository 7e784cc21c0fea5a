//! A site: the hosts that it answers for, and the servers behind it, with the cache that it shares with the other sites.

use std::sync::Arc;

use hashbrown::HashMap;
use trueplane_units::Nanos;
use trueplane_units::parameter::settings;

use crate::log::Log;
use crate::origin::Origin;
use crate::rules::hop::Identity;
use crate::settings::SiteSettings;
use crate::store::Store;
use crate::tally::{Tallies, Tally};
use crate::tls;
use crate::top::Top;
use crate::values::HostPattern;

/// What all sites of a cache share, for as long as it runs.
#[derive(Clone)]
pub(crate) struct Common {
    pub(crate) store: Arc<Store>,
    pub(crate) identity: Arc<Identity>,
    pub(crate) log: Option<Arc<Log>>,
    pub(crate) tallies: Arc<Tallies>,
    /// The URLs that matter most, if anybody can ask for them.
    pub(crate) top: Option<Arc<Top>>,
}

/// A site, which all connections share.
pub(crate) struct Site {
    pub(crate) settings: SiteSettings,
    pub(crate) store: Arc<Store>,
    pub(crate) origin: Origin,
    pub(crate) identity: Arc<Identity>,
    pub(crate) tally: Arc<Tally>,
    pub(crate) top: Option<Arc<Top>>,
    /// Time for which what is stale is served while the origin cannot be reached, if that says nothing of it.
    pub(crate) stale_if_unreachable: Nanos,
}

impl Site {
    /// A site, in a runtime of tokio.
    ///
    /// # Errors
    ///
    /// A file cannot be read, in one line.
    fn new(common: &Common, settings: &SiteSettings) -> Result<Self, String> {
        let tls = tls::trusted(settings.origin_ca.as_deref(), settings.origins())?;
        let tally = common.tallies.of(&settings.name());
        Ok(Self {
            settings: settings.clone(),
            store: Arc::clone(&common.store),
            origin: Origin::new(settings, &tls, Arc::clone(&tally)),
            identity: Arc::clone(&common.identity),
            tally,
            top: common.top.clone(),
            stale_if_unreachable: settings.stale_if_unreachable,
        })
    }

    /// Whether these settings would make the same site.
    fn is_as(&self, other: &SiteSettings) -> bool {
        let texts = |of: &SiteSettings| settings(of).into_iter().map(|one| one.text).collect::<Vec<_>>();
        texts(&self.settings) == texts(other)
    }
}

/// Sites by the hosts that they answer for.
#[derive(Default)]
pub(crate) struct Sites {
    by_host: HashMap<HostPattern, Arc<Site>>,
    /// The one for all other hosts.
    other: Option<Arc<Site>>,
    all: Vec<Arc<Site>>,
}

impl Sites {
    /// Sites, of which those go on that are as they were `before`, with their connections.
    ///
    /// # Errors
    ///
    /// A file cannot be read, in one line.
    pub(crate) fn new(common: &Common, settings: &[SiteSettings], before: &Self) -> Result<Self, String> {
        let mut sites = Self::default();
        for settings in settings {
            let same = before.all.iter().find(|site| site.is_as(settings));
            let site =
                same.map_or_else(|| Site::new(common, settings).map(Arc::new), |site| Ok(Arc::clone(site)))?;
            for host in settings.hosts() {
                sites.by_host.insert(host.clone(), Arc::clone(&site));
            }
            if settings.hosts().is_empty() {
                sites.other = Some(Arc::clone(&site));
            }
            sites.all.push(site);
        }
        Ok(sites)
    }

    /// All of them.
    pub(crate) fn all(&self) -> &[Arc<Site>] {
        &self.all
    }

    /// The one that answers for a host in small letters: by its name, by the longest domain that it is below, or for all others.
    pub(crate) fn of(&self, host: &str) -> Option<&Arc<Site>> {
        if self.by_host.is_empty() {
            return self.other.as_ref();
        }
        HostPattern::find(host, |pattern| self.by_host.get(pattern)).or(self.other.as_ref())
    }
}
