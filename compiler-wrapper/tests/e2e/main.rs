//! The wrapper as a program: it stands for clang, and what it builds counts. All tests are threads of one process, which none of
//! them changes.

mod common;

mod build_systems;
mod compares;
mod draws;
mod drop_in;
mod first_use;
mod sanitized;
mod tokens;
mod uncounted;
