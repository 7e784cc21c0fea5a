//! `offload size`: what DySO's registers take, and its control packets.

pub mod found;
pub mod options;
mod page;
mod run;
mod verdict;

use trueplane_study::{Error, Observer, Page, Study, Threads};

pub use found::Layout;
pub use options::Options;

/// The study.
#[derive(Debug)]
pub struct Size;

impl Study for Size {
    const NAME: &'static str = "offload.size";
    const ABOUT: &'static str = "
        Tell how much memory the registers of a DySO table take, and how much bandwidth its control packets.

        A row of k entries is spread over k register arrays for keys and k for values. So a packet on its way through the pipeline reads one
        place of each. In addition, there is a version for each row, and the history buffer. A control packet carries a row of the table to the
        switch, and a row of the history back.";
    const EXAMPLES: &'static str = "\
        trueplane offload size
        trueplane offload size --chain 1,2,4,8,16 --report out
        trueplane offload size --rows 16Ki --chain 4 --key-bits 104 --value-bits 48 --control-rate 1Mpps,80Mpps --json";
    const BELIEF: &'static str = "a table takes what its keys and values take";
    const THREADS: Threads = Threads::One;

    type Options = Options;
    type Found = Vec<Layout>;

    fn title(_: &Options) -> String {
        "What DySO's registers and control packets take".to_owned()
    }

    fn run(options: &Options, _: &dyn Observer) -> Result<Vec<Layout>, Error> {
        run::run(options)
    }

    fn present(_: &Options, found: &Vec<Layout>, page: &mut Page) {
        page::present(found, page);
    }

    fn verdict(_: &Options, found: &Vec<Layout>) -> Vec<String> {
        verdict::verdict(found)
    }

    fn advice(_: &Options, _: &Vec<Layout>) -> String {
        String::new()
    }
}
