#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| lease_lab_fuzz::link(text));
