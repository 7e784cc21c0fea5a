//! How the controller does: a page for people, JSON, metrics for Prometheus, and an answer for probes.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use tokio::net::TcpListener;
use trueplane_fair::span::Span;

use super::shared::Shared;
use super::{metrics, page};

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";
const JSON: &str = "application/json";

/// Answers requests for ever.
pub(super) async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let router = Router::new()
        .route("/", get(overview))
        .route("/status", get(status))
        .route("/metrics", get(exposition))
        .route("/healthz", get(health))
        .route("/why/{namespace}/{name}", get(why))
        .with_state(shared);
    drop(axum::serve(listener, router).await);
}

fn text(kind: &'static str, body: String) -> Response {
    ([(header::CONTENT_TYPE, kind)], body).into_response()
}

async fn overview(State(shared): State<Arc<Shared>>) -> Response {
    let status = shared.controller().status(shared.clock.now());
    let half_life = shared.controller().policy().memory;
    let half_life = half_life.and_then(|memory| Span::new(memory.half_life_span()));
    text(HTML, page::overview(&status, half_life))
}

async fn status(State(shared): State<Arc<Shared>>) -> Response {
    let status = shared.controller().status(shared.clock.now());
    match serde_json::to_string(&status) {
        Ok(body) => text(JSON, body),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

async fn exposition(State(shared): State<Arc<Shared>>) -> Response {
    let status = shared.controller().status(shared.clock.now());
    match metrics::exposition(status, shared.watch_errors()) {
        Ok(body) => text(OPEN_METRICS, body),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

async fn health(State(shared): State<Arc<Shared>>) -> Response {
    if shared.is_well() {
        "ok\n".into_response()
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "the loop does not turn\n").into_response()
    }
}

async fn why(State(shared): State<Arc<Shared>>, Path((namespace, name)): Path<(String, String)>) -> Response {
    if !shared.controller().leads() {
        let text = "this process does not lead: ask the one that the Lease names\n";
        return (StatusCode::SERVICE_UNAVAILABLE, text).into_response();
    }
    match shared.controller().why(&namespace, &name, shared.clock.now()) {
        Some(sentence) => format!("{namespace}/{name} {sentence}\n").into_response(),
        None => (StatusCode::NOT_FOUND, format!("nothing of the name {namespace}/{name} waits here\n"))
            .into_response(),
    }
}
