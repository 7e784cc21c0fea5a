//! What outlives the process: a ConfigMap with who has had how much.
//!
//! Its `data` has the names of tenants, the resources and the status, for people; its `binaryData` the snapshot of the scheduler.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, Client, Error};

use super::problem::one_line;
use super::shared::Place;
use super::write::PATIENCE;
use crate::admission::Saved;
use crate::controller::Status;
use crate::names::CONTROLLER;
use crate::resources::ResourceNames;

const VERSION_KEY: &str = "version";
const TENANTS_KEY: &str = "tenants";
const RESOURCES_KEY: &str = "resources";
const STATUS_KEY: &str = "status";
const GOT_KEY: &str = "got";
const SCHEDULER_KEY: &str = "scheduler";
/// The version of what is kept; another one is refused.
const VERSION: &str = "1";

/// Why nothing was loaded.
#[derive(Debug)]
pub(super) enum LoadError {
    /// The API server did not answer, or not with the ConfigMap.
    Away(String),
    /// There is something that cannot be used.
    Damaged(String),
}

/// The ConfigMap.
pub(super) struct State {
    api: Api<ConfigMap>,
    place: Place,
    /// The version of the ConfigMap that this process knows: somebody else's write makes the next one fail.
    version: Option<String>,
}

impl State {
    pub(super) fn new(client: Client, place: Place) -> Self {
        Self { api: Api::namespaced(client, &place.namespace), place, version: None }
    }

    /// Namespace and name.
    pub(super) fn place(&self) -> String {
        format!("{}/{}", self.place.namespace, self.place.name)
    }

    /// What was saved, if anything was.
    pub(super) async fn load(&mut self, resources: &ResourceNames) -> Result<Option<Saved>, LoadError> {
        let found = match tokio::time::timeout(PATIENCE, self.api.get_opt(&self.place.name)).await {
            Ok(found) => found.map_err(|error| LoadError::Away(one_line(&error)))?,
            Err(_) => return Err(LoadError::Away("the API server does not answer".to_owned())),
        };
        self.version = found.as_ref().and_then(|map| map.metadata.resource_version.clone());
        let Some(map) = found else { return Ok(None) };
        read(&map, resources).map_err(LoadError::Damaged)
    }

    /// Saves the state.
    pub(super) async fn save(
        &mut self,
        saved: &Saved,
        resources: &ResourceNames,
        status: &Status,
    ) -> Result<(), String> {
        let text = |value: serde_json::Result<String>| value.map_err(|error| error.to_string());
        let data = BTreeMap::from([
            (VERSION_KEY.to_owned(), VERSION.to_owned()),
            (TENANTS_KEY.to_owned(), text(serde_json::to_string(&saved.tenants))?),
            (GOT_KEY.to_owned(), text(serde_json::to_string(&saved.got))?),
            (RESOURCES_KEY.to_owned(), resources.names().join(",")),
            (STATUS_KEY.to_owned(), text(serde_json::to_string(status))?),
        ]);
        let binary = BTreeMap::from([(SCHEDULER_KEY.to_owned(), ByteString(saved.scheduler.clone()))]);
        let map = ConfigMap {
            metadata: ObjectMeta {
                name: Some(self.place.name.clone()),
                namespace: Some(self.place.namespace.clone()),
                resource_version: self.version.clone(),
                labels: Some(BTreeMap::from([("app.kubernetes.io/name".to_owned(), CONTROLLER.to_owned())])),
                ..ObjectMeta::default()
            },
            data: Some(data),
            binary_data: Some(binary),
            immutable: None,
        };
        let parameters = PostParams::default();
        let written = match self.version {
            Some(_) => self.api.replace(&self.place.name, &parameters, &map).await,
            None => self.api.create(&parameters, &map).await,
        };
        match written {
            Ok(written) => {
                self.version = written.metadata.resource_version;
                Ok(())
            }
            Err(error) => {
                // Somebody else has written or deleted it. If this process still leads, its next write counts.
                if let Error::Api(status) = &error
                    && matches!(status.code, 404 | 409)
                    && let Ok(found) = self.api.get_opt(&self.place.name).await
                {
                    self.version = found.and_then(|map| map.metadata.resource_version);
                }
                Err(one_line(&error))
            }
        }
    }
}

/// Reads a ConfigMap.
fn read(map: &ConfigMap, resources: &ResourceNames) -> Result<Option<Saved>, String> {
    let data = |key: &str| map.data.as_ref().and_then(|data| data.get(key));
    let Some(version) = data(VERSION_KEY) else { return Ok(None) };
    if version != VERSION {
        return Err(format!("expected version {VERSION}, got {version:?}"));
    }
    let names = resources.names().join(",");
    match data(RESOURCES_KEY) {
        Some(found) if *found == names => {}
        found => {
            let found = found.map_or("none", String::as_str);
            return Err(format!("expected the resources {names}, as configured, got {found}"));
        }
    }
    let tenants = data(TENANTS_KEY).map(|text| serde_json::from_str(text));
    let Some(Ok(tenants)) = tenants else {
        return Err("expected the names and numbers of tenants as JSON, got something else".to_owned());
    };
    let scheduler = map.binary_data.as_ref().and_then(|data| data.get(SCHEDULER_KEY));
    let Some(ByteString(scheduler)) = scheduler else {
        return Err("expected the snapshot of a scheduler, got none".to_owned());
    };
    // A state of an earlier build has none.
    let Ok(got) = serde_json::from_str(data(GOT_KEY).map_or("{}", String::as_str)) else {
        return Err(
            "expected the times at which tenants got something as JSON, got something else".to_owned()
        );
    };
    Ok(Some(Saved { tenants, got, scheduler: scheduler.clone() }))
}

/// The status that the leading process wrote last into the ConfigMap of this namespace and name.
///
/// # Errors
///
/// A sentence: the API server does not answer, or there is no ConfigMap with a status of this version.
pub async fn status(client: Client, namespace: &str, name: &str) -> Result<Status, String> {
    let api: Api<ConfigMap> = Api::namespaced(client, namespace);
    let found = api.get_opt(name).await.map_err(|error| one_line(&error))?;
    let map = found.ok_or_else(|| {
        format!("there is no ConfigMap {namespace}/{name}: does trueplane fair admit run there, with this --namespace and --name?")
    })?;
    let text = map.data.as_ref().and_then(|data| data.get(STATUS_KEY));
    let text = text.ok_or_else(|| "expected a ConfigMap with a status, got one without".to_owned())?;
    serde_json::from_str(text).map_err(|error| format!("expected the status of this version: {error}"))
}
