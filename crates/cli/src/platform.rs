//! What this command has in a terminal and lacks in a browser, where it runs as WebAssembly (WASI): threads, Ctrl-C, and the width of
//! the terminal.
//!
//! Everything else runs unchanged there, on files that a page keeps in memory: see `browser/README.md`.

/// Whether threads can be started. Where they cannot, all work is done on the one that runs already.
pub(crate) const HAS_THREADS: bool = !cfg!(target_os = "wasi");

/// Has `then` called at every Ctrl-C.
#[cfg(not(target_os = "wasi"))]
pub(crate) fn on_ctrl_c(then: impl FnMut() + Send + 'static) -> Result<(), String> {
    ctrlc::set_handler(then).map_err(|error| error.to_string())
}

/// Nobody can type Ctrl-C: the page ends the whole command.
#[cfg(target_os = "wasi")]
pub(crate) fn on_ctrl_c(_: impl FnMut() + Send + 'static) -> Result<(), String> {
    Ok(())
}

/// Columns of the terminal that standard output goes to, if it is one.
#[cfg(not(target_os = "wasi"))]
pub(crate) fn columns() -> Option<usize> {
    terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| width.0.into())
}

/// The page shows text as it likes.
#[cfg(target_os = "wasi")]
pub(crate) fn columns() -> Option<usize> {
    None
}
