/** What the runs of a process share: the system calls, the model in use, the tools and the state of the loop. */
import { PID_KERNEL } from "../abi/ids.ts";
import type { ProgramStart } from "../abi/program.ts";
import type { Sys } from "../abi/sys.ts";
import { type KeptReply, placeOf, type RunPlace, stateOf } from "./checkpoint.ts";
import type { ComingReply } from "./coming.ts";
import { unlearned, WindowKeeper } from "./context/keeper.ts";
import type { Phase } from "./decide.ts";
import { Discovery } from "./deferred/discovery.ts";
import type { OfferedTools } from "./deferred/offered.ts";
import type { DeferredSetting } from "./deferred/setting.ts";
import { NearbyGuides } from "./instructions/nearby.ts";
import { NoteTaker } from "./memory/note-taker.ts";
import { Recall } from "./memory/recall.ts";
import { Tidier } from "./memory/tidier.ts";
import type { ModeNotes } from "./mode-notes.ts";
import { type ModelInUse, ownModel } from "./model/in-use.ts";
import { type Briefing, briefingOfFork } from "./prompt/briefing.ts";
import type { Place } from "./prompt/environment.ts";
import { SkillsInSight } from "./skills/in-sight.ts";
import type { LoopState } from "./state.ts";
import { tokenTargetOf } from "./token-target.ts";
import { toolsOfFork } from "./tools/tools.ts";

export interface AgentOptions {
  /** The platform as the system prompt names it: `linux`. */
  readonly platform: string;
  /** Retries of one model call; default 10. */
  readonly maxRetries?: number;
  /** The most calls of a reply that run at once; default 10. */
  readonly maxConcurrency?: number;
  /** Which tools are deferred; default: as when no environment variable sets it. */
  readonly deferred?: DeferredSetting;
}

/**
 * The state of the loop: of the only run of a process, or of the runs of a session in turn. Lives as long as the
 * process.
 */
export interface Run {
  /** The system calls of the process, or of the current run in a session: then its calls end with the run. */
  sys: Sys;
  /** Replaced when the user has chosen another model. */
  start: ProgramStart;
  readonly options: AgentOptions;
  readonly here: Place;
  /** null: not yet found out in this daemon. */
  briefing: Briefing | null;
  /** In a session: the message whose run is in progress; null: no run is in progress. */
  underWay: RunPlace | null;
  phase: Phase;
  model: ModelInUse;
  tools: OfferedTools | null;
  /** The text about deferred tools, fixed when the process starts in this daemon; appended to the system prompt. */
  announced: string;
  readonly discovery: Discovery;
  readonly nearby: NearbyGuides;
  readonly skills: SkillsInSight;
  /** null: not yet restored from the conversation. */
  modeNotes: ModeNotes | null;
  /** Of the current run. */
  state: LoopState;
  /** The text of the pieces of the reply in progress; null: not yet restored from the conversation. */
  pieces: readonly string[] | null;
  keeper: WindowKeeper;
  /** A reply that an earlier daemon received and did not finish; taken up before the model is asked again. */
  kept: KeptReply | null;
  /** The reply whose calls have begun before its end; null: there is none. */
  coming: ComingReply | null;
  /** How many blocks of the reply in progress had their text emitted before its end. */
  told: number;
  /** The last checkpoint holds a reply. */
  hasToldReply: boolean;
  /** It has started background commands in this daemon; those of an earlier daemon ended with that daemon. */
  hasJobs: boolean;
  /** The user has turned memory off. */
  isMemoryOff: boolean;
  readonly notes: NoteTaker;
  readonly tidier: Tidier;
  readonly recall: Recall;
  /** It has started agents in the background. */
  hasAgents: boolean;
  /** A member of a team: its lead knows that it has nothing to do; it has agreed to end. */
  isIdle: boolean;
  isLeaving: boolean;
}

export function newRun(sys: Sys, start: ProgramStart, options: AgentOptions): Run {
  const { cwd, restored } = start;
  const here = { cwd, day: sys.today(), platform: options.platform };
  const position = placeOf(restored);
  const { run: underWay, kept } = position;
  // of another model than now, the user has chosen meanwhile
  const isSame = (position.chosen ?? 0) === (start.chosen ?? 0);
  const begun = stateOf(position);
  const hasPlace = (restored?.state ?? null) !== null;
  // the intent is the message of its only run, or of its first
  const state = hasPlace
    ? begun
    : { ...begun, target: tokenTargetOf(start, { from: PID_KERNEL, text: start.intent }) };
  const discovery = new Discovery();
  return {
    sys,
    start,
    options,
    here,
    briefing: start.fork === undefined ? null : briefingOfFork(start.fork),
    underWay,
    phase: "streaming",
    model: ownModel(start),
    // one that a call started is an agent like any other, and finds out which tools there are
    tools: start.fork === undefined || start.surroundings === true ? null : toolsOfFork(start.fork),
    announced: "",
    discovery,
    nearby: new NearbyGuides(cwd),
    skills: new SkillsInSight(cwd),
    modeNotes: null,
    state: isSame ? state : { ...state, model: 0 },
    pieces: null,
    kept,
    coming: null,
    told: 0,
    hasToldReply: kept !== null,
    keeper: new WindowKeeper(start, isSame ? position.window : unlearned(position.window)),
    hasJobs: false,
    isMemoryOff: position.isMemoryOff === true || start.fork?.isMemoryOff === true,
    notes: new NoteTaker(position.noted),
    tidier: new Tidier(position.isCounted),
    recall: new Recall(),
    hasAgents: position.hasAgents === true,
    isIdle: position.isIdle === true,
    isLeaving: position.isLeaving === true,
  };
}
