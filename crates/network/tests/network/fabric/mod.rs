mod queueing;
mod study;
