mod faults;
mod queueing;
mod study;
