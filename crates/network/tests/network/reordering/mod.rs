mod study;
