//! Network functions, dispatch and studies of many cores from outside: against their rules, naive forms, worked examples, every capture
//! and the seeds of the fuzzer.

mod captures;
mod dispatch;
mod example;
mod functions;
mod link;
mod packet;
mod rules;
mod shapes;
