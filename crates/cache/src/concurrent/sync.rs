//! What threads share: from the standard library, or from loom, which runs them in every order.

#[cfg(loom)]
pub(super) use loom::{
    sync::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, atomic},
    thread, thread_local,
};
#[cfg(not(loom))]
pub(super) use std::{
    sync::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, atomic},
    thread, thread_local,
};
