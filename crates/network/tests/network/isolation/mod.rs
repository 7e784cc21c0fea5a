mod queues;
mod study;
