//! The page for people: who holds how much, who waits, and whose turn it is.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use trueplane_fair::span::Span;
use trueplane_units::Value as _;

use crate::controller::{Status, TenantStatus};

const STYLE: &str = include_str!("page.css");

/// The whole page. It loads itself anew every five seconds.
pub(super) fn overview(status: &Status, half_life: Option<Span>) -> String {
    let widest = status.tenants.iter().map(|tenant| by_weight(tenant, tenant.held + tenant.remembered));
    let widest = widest.chain(status.tenants.iter().map(|tenant| by_weight(tenant, tenant.entitled)));
    let widest = widest.fold(0.01, f64::max);
    let waiting: u64 = status.tenants.iter().map(|tenant| tenant.waiting).sum();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                meta http-equiv="refresh" content="5";
                title { "Who is next on the cluster" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { "Who is next on the cluster" }
                @if !status.leads {
                    p.note { "This process does not lead, and shows nothing. Its log says why. The Lease names the one that leads, if one does." }
                } @else {
                    p {
                        (waiting) @if waiting == 1 { " workload waits. " } @else { " workloads wait. " }
                        @if waiting > 0 { "Of those who can run something, the tenant with the shortest bar is next. " }
                        span.held { "Held now" } " and "
                        span.remembered { "had above its part" }
                        @match half_life {
                            Some(half_life) => { ", half of which is forgotten after " (half_life.show()) "; " }
                            None => { " (nothing is remembered); " }
                        }
                        "the line is its part of the cluster."
                    }
                    table {
                        thead { tr {
                            th { "Tenant" } th.wide { "Share of the cluster, for a weight of 1" } th { "Waiting" } th { "Admitted" }
                            @for resource in &status.resources { th { (resource) } }
                        } }
                        tbody { @for tenant in &status.tenants { (row(tenant, widest)) } }
                        tfoot { tr {
                            td { "All" } td {} td { (waiting) } td {}
                            @for (held, capacity) in status.held.iter().zip(&status.capacity) {
                                td { (held) " of " (capacity) }
                            }
                        } }
                    }
                }
            }
        }
    };
    page.into_string()
}

/// A part of the cluster for one unit of weight: by that tenants are compared.
fn by_weight(tenant: &TenantStatus, part: f64) -> f64 {
    part / f64::from(tenant.weight.max(1))
}

fn row(tenant: &TenantStatus, widest: f64) -> Markup {
    let width = |part: f64| format!("{:.2}%", 100.0 * by_weight(tenant, part) / widest);
    let percent = |part: f64| format!("{:.1}%", 100.0 * part);
    let about = format!(
        "holds {}, had {} above its part of {}",
        percent(tenant.held),
        percent(tenant.remembered),
        percent(tenant.entitled)
    );
    html! {
        tr {
            td { (tenant.name) @if tenant.weight != 1 { " ×" (tenant.weight) } @if tenant.turn == Some(1) { " (next)" } }
            td title=(about) {
                div.bar {
                    div.held style={ "width:" (width(tenant.held)) } {}
                    div.remembered style={ "width:" (width(tenant.remembered)) } {}
                    div.part style={ "left:" (width(tenant.entitled)) } {}
                }
                @if !tenant.why.is_empty() { div.why { "first: " (tenant.why) } }
            }
            td { (tenant.waiting) }
            td { (tenant.admitted) }
            @for amount in &tenant.amounts { td { (amount) } }
        }
    }
}
