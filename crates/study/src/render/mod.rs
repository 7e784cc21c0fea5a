//! A [`Report`](crate::report::Report) as people and programs read it, once for all studies.
//!
//! * [`text()`]: the terminal, and pipes;
//! * [`write_report`]: a folder with a self-contained page, its tables and plots as CSV, and the document as JSON;
//! * [`page()`] and [`figure()`]: that page alone, and one of its plots, for a notebook.
//!
//! Nothing here knows any study. The way down: `format` prints single values, `text` and `csv` lay tables
//! out, `axis` chooses ticks, `panels` lays curves out, `plot` and `slope` draw them, `figure` captions them, `page` puts the parts on one page, and
//! `folder` writes files.

mod axis;
mod bars;
mod bubbles;
mod cells;
mod csv;
mod figure;
mod folder;
mod labels;
mod look;
mod names;
mod page;
mod panels;
mod picture;
mod plot;
#[cfg(test)]
mod sample;
mod shown;
mod slope;
mod text;
mod tips;

pub use csv::table as csv;
pub use folder::write_report;
pub use page::{figure_alone as figure, page_alone as page};
pub use picture::picture;
pub use text::{Look, answer, fold, left_out, text};
