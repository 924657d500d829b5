//! Exchange with other campaigns: imports their finds, and publishes those made here.

use std::{
    collections::{BTreeMap, HashSet},
    sync::atomic::Ordering::Relaxed,
    time::{Duration, Instant},
};

use libafl::{inputs::BytesInput, state::HasExecutions};
use libafl_bolts::hash_std;

use super::Worker;
use crate::campaign::{
    Setup,
    supervisor::{Outcome, stop_requested},
    sync::{Hits, Siblings},
};
use quagmire_base::{
    atomic::unwritable,
    error::Result,
    files::{self, Folder},
    format::counted,
};
use quagmire_execution::{
    abi::Status,
    timer::{TICKED, TIME_UP},
};
use quagmire_results::summary::StoppedBy;
use quagmire_search::{EntryId, evaluate::Evaluation, hooks::CampaignHooks as _, origin::Origin};

/// Names of AFL's files about a campaign, which afl-whatsup reads in a sync folder.
const FOR_AFL: [&str; 2] = ["fuzzer_setup", "fuzzer_stats"];

/// Interval between two looks at the folders of other cores.
const INTERVAL: Duration = Duration::from_secs(1);

/// Interval between two looks at a sync folder, which may be on another machine, and at which hits are written and
/// read.
const FAR_INTERVAL: Duration = Duration::from_secs(5);

/// Largest duration of the last import from other cores.
const LAST: Duration = Duration::from_secs(2);

/// Time, beside the hang timeout, in which other clients end their runs.
const ENDING: Duration = Duration::from_secs(10);

/// Number of inputs of others that are remembered, so that they are not run again.
const REMEMBERED: usize = 1 << 20;

/// Number of inputs imported at once from which the log gets a line.
const WORTH_A_LINE: u64 = 100;

/// State of the exchange in this worker.
pub(super) struct Sharing {
    siblings: Siblings,
    /// Hashes of inputs that were run.
    run: HashSet<u64>,
    hits: BTreeMap<String, Hits>,
}

impl Sharing {
    /// Creates the state; `None` if there are no siblings and no sync folder.
    pub(super) fn new(setup: &Setup) -> Option<Self> {
        let output = setup.place.output(setup.folder.path());
        let mut siblings = Siblings::of_cores(setup.place.others(output).chain(setup.place.earlier(output)));
        if siblings.all.is_empty() && setup.options.sync.is_none() {
            return None;
        }
        if setup.place.number == 0 {
            siblings.with_their_ends();
        }
        if let Some((meeting, name)) = setup.options.meeting() {
            siblings.meet_in(meeting.to_owned(), name);
        }
        Some(Self { siblings, run: HashSet::new(), hits: BTreeMap::new() })
    }
}

/// Moment at which an import is broken off.
#[derive(Clone, Copy)]
enum Until {
    /// End of the campaign.
    Over,
    /// A point in time.
    Moment(Instant),
}

impl Worker<'_> {
    /// Exchanges with others if it is due. Returns an outcome if this process cannot continue.
    pub(super) fn share_if_due(&mut self) -> Result<Option<Outcome>> {
        if self.sharing.is_none() {
            return Ok(None);
        }
        let now = self.state.hooks.elapsed();
        {
            let record = &self.state.hooks.record;
            // the first exchange is due at once
            if record.last_far_share.is_some() && now.saturating_sub(record.last_share) < INTERVAL {
                return Ok(None);
            }
        }
        self.share(now, Until::Over)
    }

    /// Waits for the other clients at the end, if this is the first one, and imports their last finds.
    pub(super) fn share_last(&mut self, stopped_by: StoppedBy) -> Result<Option<Outcome>> {
        let place = self.setup.place;
        if place.number == 0 && place.of > 1 {
            if stopped_by != StoppedBy::Execs {
                place.statistics.stop();
            }
            let mut until = None;
            while !place.statistics.others_have_ended() && until.is_none_or(|until| Instant::now() < until) {
                if until.is_none() && (place.statistics.is_stopped() || stop_requested() || TIME_UP.load(Relaxed)) {
                    place.statistics.stop();
                    until = Some(Instant::now() + ENDING + self.setup.options.target.hang_timeout);
                }
                std::thread::sleep(Duration::from_millis(20));
                self.look()?;
            }
        }
        if self.sharing.is_none() {
            return Ok(None);
        }
        self.state.hooks.record.last_far_share = None;
        let now = self.state.hooks.elapsed();
        self.share(now, Until::Moment(Instant::now() + LAST))
    }

    /// Publishes the final state.
    pub(super) fn show_last(&mut self) -> Result<()> {
        match self.sharing.take() {
            Some(mut sharing) => self.show(&mut sharing),
            None => Ok(()),
        }
    }

    fn look(&mut self) -> Result<()> {
        if TICKED.swap(false, Relaxed) {
            let moment = self.moment();
            self.state.hooks.housekeeping(moment, &self.state.search)?;
        }
        Ok(())
    }

    fn share(&mut self, now: Duration, until: Until) -> Result<Option<Outcome>> {
        let Some(mut sharing) = self.sharing.take() else { return Ok(None) };
        let far = {
            let record = &mut self.state.hooks.record;
            record.last_share = now;
            // at first, and not again for each worker of a target that crashes all the time
            let far = record.last_far_share.is_none_or(|last| now.saturating_sub(last) >= FAR_INTERVAL);
            if far {
                record.last_far_share = Some(now);
            }
            far
        };
        if far {
            self.meet(&mut sharing)?;
            self.show(&mut sharing)?;
        }
        let (started, before) = (Instant::now(), *self.state.executions());
        let outcome = self.take_in_all(&mut sharing, far, until);
        let taken_in = *self.state.executions() - before;
        if taken_in >= WORTH_A_LINE {
            let siblings = counted(sharing.siblings.all.len() as u64, "sibling");
            let (inputs, seconds) = (counted(taken_in, "input"), started.elapsed().as_secs_f64());
            let line = format!("took in {inputs} of {siblings} in {seconds:.3} s");
            self.state.hooks.log(&line)?;
        }
        if far {
            self.learn_hits(&mut sharing)?;
        }
        self.sharing = Some(sharing);
        outcome
    }

    /// Looks for siblings that have appeared.
    fn meet(&mut self, sharing: &mut Sharing) -> Result<()> {
        match sharing.siblings.look_around() {
            Ok(links) => links.iter().try_for_each(|name| self.leave_out(name, "its folder is a link")),
            Err(why) => self.say(format!("nobody new is met in the folder of --sync: {why}")),
        }
    }

    /// Ends the import from a sibling whose files are invalid, and notes that once.
    fn leave_out(&mut self, name: &str, why: &str) -> Result<()> {
        self.state.hooks.record.left_out.insert(name.to_owned());
        self.say(format!("{name} is left out of this session: {why}"))
    }

    fn is_left_out(&self, name: &str) -> bool {
        self.state.hooks.record.left_out.contains(name)
    }

    /// Writes hits, entries and statistics for others. An error is noted once, and the campaign continues.
    fn show(&mut self, sharing: &mut Sharing) -> Result<()> {
        let program = self.setup.folder.path();
        self.executor.counts_mut().settle_hits(&mut self.state.search.rare.hits);
        let mut hits = self.state.search.rare.hits.clone();
        let mut shown =
            Hits::new(self.fingerprint, hits.iter().copied().take(self.own_edges)).write(&Folder::named(program));
        if let Some(publisher) = &self.setup.publisher {
            for sibling in sharing.siblings.all.iter().filter(|sibling| !sibling.far) {
                if let Some(of_sibling) = sharing.hits.get(&sibling.name) {
                    of_sibling.add_to(&mut hits);
                }
            }
            let record = &mut self.state.hooks.record;
            let files = record.entries.iter().map(|entry| entry.file.as_str());
            let queue = self.setup.folder.queue();
            shown = shown
                .and_then(|()| {
                    Hits::new(self.fingerprint, hits.into_iter().take(self.own_edges)).write(publisher.folder())
                })
                .and_then(|()| publisher.publish(&mut record.published, &queue, files))
                .and_then(|()| {
                    FOR_AFL.into_iter().try_for_each(|name| {
                        // not written yet, at first
                        let Ok(text) = files::read(&program.join(name), files::LARGEST_TEXT) else { return Ok(()) };
                        let path = publisher.folder().path().join(name);
                        publisher.folder().write_whole(name, &text).map_err(|error| unwritable(&path, &error))
                    })
                });
        }
        match shown {
            Err(error) => self.say(format!("what is found here cannot be shared: {error}")),
            Ok(()) => Ok(()),
        }
    }

    /// Notes a message once in the campaign.
    fn say(&mut self, message: String) -> Result<()> {
        let recorder = &mut self.state.hooks;
        if recorder.record.said.contains(&message) {
            return Ok(());
        }
        let said = recorder.note(&message);
        recorder.record.said.insert(message);
        said
    }

    /// Reads the hits of others, and adds them up by branch.
    fn learn_hits(&mut self, sharing: &mut Sharing) -> Result<()> {
        let mut strangers = Vec::new();
        for sibling in &mut sharing.siblings.all {
            if self.is_left_out(&sibling.name) {
                continue;
            }
            let hits = match sibling.hits() {
                Ok(Some(hits)) => hits,
                Ok(None) => continue,
                Err(why) => {
                    self.leave_out(&sibling.name, &why)?;
                    continue;
                }
            };
            if hits.fingerprint == self.fingerprint {
                sharing.hits.insert(sibling.name.clone(), hits);
            } else {
                strangers.push(sibling.name.clone());
            }
        }
        let mut sum = vec![0; self.executor.counts().program().edges()];
        sharing.hits.values().for_each(|hits| hits.add_to(&mut sum));
        self.state.search.rare.learn_hits_of_others(sum);
        for name in strangers {
            self.say(format!(
                "{name} fuzzes another build of the program: its inputs are taken in, its hit counts are not"
            ))?;
        }
        Ok(())
    }

    fn take_in_all(&mut self, sharing: &mut Sharing, far: bool, until: Until) -> Result<Option<Outcome>> {
        for at in 0..sharing.siblings.all.len() {
            if sharing.siblings.all[at].far && !far {
                continue;
            }
            let name = sharing.siblings.all[at].name.clone();
            if self.is_left_out(&name) {
                continue;
            }
            let next = {
                let taken_in = &mut self.state.hooks.record.taken_in;
                sharing.siblings.all[at].look(taken_in.entry(name.clone()).or_default())
            };
            let next = match next {
                Ok(next) => next,
                Err(why) => {
                    self.leave_out(&name, &why)?;
                    continue;
                }
            };
            for number in next {
                let bytes = match sharing.siblings.all[at].read(number, self.setup.max_size) {
                    Ok(bytes) => bytes,
                    Err(why) => {
                        self.leave_out(&name, &why)?;
                        break;
                    }
                };
                let mut status = Status::Returned;
                if let Some(bytes) = bytes
                    && !self.is_lost(&bytes)
                {
                    let known = self.state.search.holder(&bytes);
                    let entry = match known {
                        Some(entry) => Some(entry),
                        None if sharing.run.contains(&hash_std(&bytes)) => None,
                        None => {
                            let entry;
                            (status, entry) = self.take_in(sharing, at, number, bytes)?;
                            entry
                        }
                    };
                    if let (Some(entry), Some(progress)) = (entry, self.state.hooks.record.taken_in.get_mut(&name)) {
                        progress.is_here(number, entry);
                    }
                }
                if let Some(progress) = self.state.hooks.record.taken_in.get_mut(&name) {
                    progress.next = progress.next.max(number.saturating_add(1));
                }
                if self.has_to_end(status) {
                    return self.again();
                }
                self.look()?;
                let over = match until {
                    Until::Over => self.state.hooks.is_over(*self.state.executions()),
                    Until::Moment(moment) => Instant::now() >= moment,
                };
                if over {
                    return Ok(None);
                }
            }
        }
        Ok(None)
    }

    /// Runs an input of the sibling at index `at`. Returns the status of the run, and the entry if it was kept.
    fn take_in(
        &mut self,
        sharing: &mut Sharing,
        at: usize,
        number: u64,
        bytes: Vec<u8>,
    ) -> Result<(Status, Option<EntryId>)> {
        if sharing.run.len() >= REMEMBERED {
            sharing.run.clear();
        }
        sharing.run.insert(hash_std(&bytes));
        let input = BytesInput::new(bytes);
        let (ancestor, operators) = {
            let record = &self.state.hooks.record;
            let (ancestor, labels) = sharing.siblings.ancestor(at, number, &record.taken_in);
            (ancestor, record.labelled(&labels))
        };
        let sibling = &sharing.siblings.all[at].name;
        let origin = Origin::Import { sibling, ancestor, operators: &operators };
        let Evaluation { status, entry, .. } = self.evaluate(&origin, &input)?;
        Ok((status, entry))
    }
}
