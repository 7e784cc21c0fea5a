#![doc = include_str!("profiles.md")]

mod catalogue;
mod generator;
mod lengths;
mod parameters;
mod profile;
mod write;

pub use generator::Generator;
pub use lengths::Lengths;
pub use parameters::Generate;
pub use profile::{Catalogue, InvalidProfile, Objects, Profile, ProfileName, Sessions, Sizes};
pub use write::{WriteError, save_csv, write_csv};
