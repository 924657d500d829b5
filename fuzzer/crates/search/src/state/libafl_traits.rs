//! LibAFL's interface of a state, which its fuzzer, stages and mutators ask for: all of it is passed on to LibAFL's own
//! state.

use std::{
    cell::{Ref, RefMut},
    time::Duration,
};

use libafl::{
    Error, HasMetadata,
    corpus::{CorpusId, HasCurrentCorpusId, HasTestcase, Testcase},
    inputs::BytesInput,
    stages::StageId,
    state::{
        HasCorpus, HasCurrentStageId, HasExecutions, HasImported, HasLastFoundTime, HasLastReportTime, HasMaxSize,
        HasRand, HasSolutions, Stoppable,
    },
};
use libafl_bolts::{rands::StdRand, serdeany::SerdeAnyMap};

use super::{CampaignState, InputCorpus};

impl<H> HasCorpus<BytesInput> for CampaignState<H> {
    type Corpus = InputCorpus;

    fn corpus(&self) -> &InputCorpus {
        self.libafl.corpus()
    }

    fn corpus_mut(&mut self) -> &mut InputCorpus {
        self.libafl.corpus_mut()
    }
}

impl<H> HasExecutions for CampaignState<H> {
    fn executions(&self) -> &u64 {
        self.libafl.executions()
    }

    fn executions_mut(&mut self) -> &mut u64 {
        self.libafl.executions_mut()
    }
}

impl<H> HasRand for CampaignState<H> {
    type Rand = StdRand;

    fn rand(&self) -> &StdRand {
        self.libafl.rand()
    }

    fn rand_mut(&mut self) -> &mut StdRand {
        self.libafl.rand_mut()
    }
}

impl<H> HasMaxSize for CampaignState<H> {
    fn max_size(&self) -> usize {
        self.libafl.max_size()
    }

    fn set_max_size(&mut self, max_size: usize) {
        self.libafl.set_max_size(max_size);
    }
}

impl<H> HasMetadata for CampaignState<H> {
    fn metadata_map(&self) -> &SerdeAnyMap {
        self.libafl.metadata_map()
    }

    fn metadata_map_mut(&mut self) -> &mut SerdeAnyMap {
        self.libafl.metadata_map_mut()
    }
}

impl<H> HasCurrentCorpusId for CampaignState<H> {
    fn set_corpus_id(&mut self, id: CorpusId) -> Result<(), Error> {
        self.libafl.set_corpus_id(id)
    }

    fn clear_corpus_id(&mut self) -> Result<(), Error> {
        self.libafl.clear_corpus_id()
    }

    fn current_corpus_id(&self) -> Result<Option<CorpusId>, Error> {
        self.libafl.current_corpus_id()
    }
}

impl<H> HasCurrentStageId for CampaignState<H> {
    fn set_current_stage_id(&mut self, id: StageId) -> Result<(), Error> {
        self.libafl.set_current_stage_id(id)
    }

    fn clear_stage_id(&mut self) -> Result<(), Error> {
        self.libafl.clear_stage_id()
    }

    fn current_stage_id(&self) -> Result<Option<StageId>, Error> {
        self.libafl.current_stage_id()
    }

    fn on_restart(&mut self) -> Result<(), Error> {
        self.libafl.on_restart()
    }
}

impl<H> Stoppable for CampaignState<H> {
    fn stop_requested(&self) -> bool {
        self.libafl.stop_requested()
    }

    fn request_stop(&mut self) {
        self.libafl.request_stop();
    }

    fn discard_stop_request(&mut self) {
        self.libafl.discard_stop_request();
    }
}

impl<H> HasSolutions<BytesInput> for CampaignState<H> {
    type Solutions = InputCorpus;

    fn solutions(&self) -> &InputCorpus {
        self.libafl.solutions()
    }

    fn solutions_mut(&mut self) -> &mut InputCorpus {
        self.libafl.solutions_mut()
    }
}

impl<H> HasLastFoundTime for CampaignState<H> {
    fn last_found_time(&self) -> &Duration {
        self.libafl.last_found_time()
    }

    fn last_found_time_mut(&mut self) -> &mut Duration {
        self.libafl.last_found_time_mut()
    }
}

impl<H> HasLastReportTime for CampaignState<H> {
    fn last_report_time(&self) -> &Option<Duration> {
        self.libafl.last_report_time()
    }

    fn last_report_time_mut(&mut self) -> &mut Option<Duration> {
        self.libafl.last_report_time_mut()
    }
}

impl<H> HasImported for CampaignState<H> {
    fn imported(&self) -> &usize {
        self.libafl.imported()
    }

    fn imported_mut(&mut self) -> &mut usize {
        self.libafl.imported_mut()
    }
}

impl<H> HasTestcase<BytesInput> for CampaignState<H> {
    fn testcase(&self, id: CorpusId) -> Result<Ref<'_, Testcase<BytesInput>>, Error> {
        self.libafl.testcase(id)
    }

    fn testcase_mut(&self, id: CorpusId) -> Result<RefMut<'_, Testcase<BytesInput>>, Error> {
        self.libafl.testcase_mut(id)
    }
}
