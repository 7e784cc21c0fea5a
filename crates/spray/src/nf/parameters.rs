//! What people tell a function: its parameters, and the options that they make.

use std::path::{Path, PathBuf};

use trueplane_units::{List, parameters};

use super::{Backend, Endpoint, FunctionName, FunctionOptions, PortRange, Prefix, Rules};

const HEADING: &str = "The function";

parameters! {
    /// Parameters of the network functions; files can be read again while a function runs.
    #[derive(Clone, Debug)]
    pub struct FunctionParameters {
        /// Only for firewall: file of rules, one per line. The first rule that matches decides.
        pub rules: PathBuf => { value: "FILE", default_words: "all connections are allowed", heading: HEADING },
        /// Only for balancer: file of backends, one `ADDRESS[:PORT] [WEIGHT]` per line.
        pub backends: PathBuf => { value: "FILE", default_words: "10.0.0.11 to 10.0.0.14", heading: HEADING },
        /// Only for balancer: address and port that clients connect to.
        pub service: Option<Endpoint> =>
            { value: "ADDRESS:PORT", default_words: "198.51.100.1:80", heading: HEADING },
        /// Only for nat: public addresses.
        pub public: Option<List<Prefix>> => { value: "PREFIX", default_words: "203.0.113.1", heading: HEADING },
        /// Only for nat: public ports.
        pub ports: Option<PortRange> => { value: "FIRST-LAST", default_words: "1024-65535", heading: HEADING },
        /// Only for nat: addresses to translate.
        pub inside: Option<List<Prefix>> =>
            { value: "PREFIX", default_words: "the private addresses of RFC 1918", heading: HEADING },
    }
}

impl FunctionParameters {
    /// Refuses parameters of functions that are not among these.
    ///
    /// # Errors
    ///
    /// In one line, the flag and the function that it is for.
    pub fn check(&self, functions: &[FunctionName]) -> Result<(), String> {
        let flags = [
            ("--rules", FunctionName::Firewall, is_given(&self.rules)),
            ("--backends", FunctionName::Balancer, is_given(&self.backends)),
            ("--service", FunctionName::Balancer, self.service.is_some()),
            ("--public", FunctionName::Nat, self.public.is_some()),
            ("--ports", FunctionName::Nat, self.ports.is_some()),
            ("--inside", FunctionName::Nat, self.inside.is_some()),
        ];
        let mut idle = flags.iter().filter(|(_, function, _)| !functions.contains(function));
        match idle.find(|(.., is_given)| *is_given) {
            None => Ok(()),
            Some((flag, function, _)) => {
                let got: Vec<&str> = functions.iter().map(|function| function.name()).collect();
                Err(format!("{flag} is for --nf {function}, got --nf {}", got.join(",")))
            }
        }
    }

    /// The options that these make, where `text` reads a file.
    ///
    /// # Errors
    ///
    /// A file cannot be read or says something else, in one line.
    pub fn options(&self, text: impl Fn(&Path) -> Result<String, String>) -> Result<FunctionOptions, String> {
        let mut options = FunctionOptions::default();
        let nets = |list: &List<Prefix>| list.iter().map(|prefix| prefix.0).collect();
        if let Some(public) = &self.public {
            options.nat.public = nets(public);
        }
        if let Some(inside) = &self.inside {
            options.nat.inside = nets(inside);
        }
        options.nat.ports = self.ports.unwrap_or(options.nat.ports);
        options.balancer.service = self.service.map_or(options.balancer.service, |service| service.0);
        if is_given(&self.rules) {
            let rules = Rules::parse(&self.rules.display().to_string(), &text(&self.rules)?);
            options.rules = rules.map_err(|error| error.to_string())?;
        }
        if is_given(&self.backends) {
            let (file, port) = (&self.backends, options.balancer.service.port());
            let backends = Backend::parse_file(&file.display().to_string(), &text(file)?, port);
            options.balancer.backends = backends.map_err(|error| error.to_string())?;
        }
        Ok(options)
    }
}

fn is_given(file: &Path) -> bool {
    !file.as_os_str().is_empty()
}

#[cfg(test)]
mod tests {
    use trueplane_units::Parameters as _;

    use super::*;

    #[test]
    fn what_another_function_would_be_told_is_refused() {
        let check =
            |given, functions: &[FunctionName]| FunctionParameters::given(&[given]).unwrap().check(functions);
        let (nat, balancer) = (FunctionName::Nat, FunctionName::Balancer);
        assert_eq!(check(("ports", "80"), &[balancer, nat]), Ok(()));
        let said = "--ports is for --nf nat, got --nf balancer".to_owned();
        assert_eq!(check(("ports", "80"), &[balancer]), Err(said));
        assert!(check(("service", "198.51.100.1:80"), &[nat]).is_err());
        assert!(check(("rules", "a.rules"), &[nat, balancer]).is_err());
    }

    #[test]
    fn what_is_not_told_is_as_by_default() {
        let read = |given: &[(&str, &str)]| {
            let parameters = FunctionParameters::given(given).unwrap();
            parameters.options(|file| Err(format!("{}: no such file", file.display())))
        };
        let (told, default) = (read(&[]).unwrap(), FunctionOptions::default());
        assert_eq!(format!("{told:?}"), format!("{default:?}"));
        let told = read(&[("public", "192.0.2.0/28,192.0.2.64"), ("ports", "80")]).unwrap();
        assert_eq!(told.nat.public.len(), 2);
        assert_eq!((told.nat.ports.first, told.nat.inside), (80, default.nat.inside));
        assert_eq!(read(&[("rules", "a.rules")]).unwrap_err(), "a.rules: no such file");
        assert_eq!(
            FunctionParameters::given(&[("service", "198.51.100.1")]).unwrap_err(),
            "service: expected an address and a port such as 198.51.100.1:80, got \"198.51.100.1\""
        );
    }
}
