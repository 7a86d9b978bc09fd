/**
 * Runs a process again from its records, and reports the first difference, if any. Each run of its program (the first,
 * and one for each daemon that restored it) begins with the state recorded at that place. A run that was cut off may do
 * more than its records show: that is not a difference.
 */
import { codeOf } from "../../abi/errors.ts";
import type { ProcUuid } from "../../abi/ids.ts";
import { EXIT, type ExitStatus } from "../../abi/process.ts";
import { LIMITS } from "../../kernel/limits.ts";
import type { JournalRecord } from "../../kernel/ports/journal.ts";
import type { Difference, ReplayReport, ReplayWish } from "../../kernel/ports/replays.ts";
import type { Start } from "../../kernel/ports/tape.ts";
import { differenceOf } from "./difference.ts";
import { Player } from "./player.ts";
import { type Beat, type ExitBody, Incomplete, Recording } from "./recording.ts";
import { type ReplayStage, type Setting, setStage } from "./stage.ts";

interface Replayed extends Setting {
  readonly proc: ProcUuid;
}

export async function replayRecords(
  records: AsyncIterable<JournalRecord>,
  replayed: Replayed,
  wish: ReplayWish = {},
): Promise<ReplayReport> {
  const recording = new Recording(records, ({ proc }) => proc === replayed.proc);
  try {
    return await new Replayer(recording, replayed, wish).run();
  } finally {
    await recording.close();
  }
}

type End = Extract<Beat, { is: "exit" }>;

/** A program that has come to its end, or has not. */
interface Ended {
  readonly player: Player;
  readonly exit: ExitStatus;
}

class Replayer {
  readonly #recording: Recording;
  readonly #replayed: Replayed;
  readonly #wish: ReplayWish;
  /** `#at`: replies that the process has had so far. `#steps`: those of them that were compared. */
  #at = 0;
  #steps = 0;
  #records = 0;
  #runs = 0;
  readonly #recorded = new Set<string>();

  constructor(recording: Recording, replayed: Replayed, wish: ReplayWish) {
    this.#recording = recording;
    this.#replayed = replayed;
    this.#wish = wish;
  }

  async run(): Promise<ReplayReport> {
    try {
      const difference = await this.#untilDifference();
      if (difference === undefined) return { ...this.#report, outcome: "same" };
      return { ...this.#report, outcome: "differs", difference };
    } catch (error) {
      if (!(error instanceof Incomplete)) throw error;
      return { ...this.#report, outcome: "incomplete", reason: error.message };
    }
  }

  get #report() {
    const { pid, ports } = this.#replayed;
    const counts = { steps: this.#steps, records: this.#records, runs: this.#runs };
    return { pid, ...counts, recorded: [...this.#recorded], version: ports.version ?? "" };
  }

  get #isAtLimit(): boolean {
    return this.#wish.to !== undefined && this.#at >= this.#wish.to;
  }

  async #untilDifference(): Promise<Difference | undefined> {
    for (
      let begin = await this.#recording.nextRun();
      begin !== undefined;
      begin = await this.#recording.nextRun()
    ) {
      const difference = await this.#playRun(begin.start);
      if (difference !== undefined || this.#isAtLimit) return difference;
    }
    if (this.#runs === 0) throw new Incomplete("nothing is recorded of its program");
    return undefined;
  }

  async #playRun(start: Start): Promise<Difference | undefined> {
    if (start.v !== 1)
      throw new Incomplete(`its recording has version ${String(start.v)}, which is not known here`);
    const { memory } = this.#recording;
    this.#runs++;
    this.#recorded.add(start.crux);
    this.#at = memory.steps;
    const stage = setStage(this.#replayed, memory, start);
    memory.begin();
    const player = new Player(this.#recording, stage.proc);
    stage.hear((drafts) => player.did(drafts));
    try {
      return await this.#play(stage, player);
    } finally {
      player.close();
      stage.close();
    }
  }

  async #play(stage: ReplayStage, player: Player): Promise<Difference | undefined> {
    // the program asks for its first inputs immediately
    await this.#recording.readAhead();
    let exit: ExitStatus = EXIT.unexpected;
    const over = (status: ExitStatus): void => {
      exit = status;
      player.hasEnded = true;
    };
    stage.run(player).then(over, (err: unknown) => over({ ...EXIT.unexpected, err: asError(err) }));
    for (;;) {
      await settled();
      this.#wish.signal?.throwIfAborted();
      // the value of an input that is not recorded may come from there
      if (stage.reached[0] !== undefined && !player.isBeyond)
        throw new Error(`a replay reached for ${stage.reached[0]}`);
      // the records do not show which thread made which call
      if (player.hasThreads) throw new Incomplete("it ran threads");
      await this.#recording.readAhead();
      const beat = await this.#recording.nextBeat();
      if (beat === undefined) return undefined;
      if (beat.is === "exit") return this.#end(beat, stage, { player, exit });
      if (beat.is === "input" && beat.passage.s === "threads") throw new Incomplete("it ran threads");
      if (beat.is === "own" && beat.isReply && this.#isAtLimit) return undefined;
      const difference = player.play(beat);
      if (difference !== undefined) return difference;
      if (beat.is === "own") this.#count(beat.isReply);
    }
  }

  #count(isReply: boolean): void {
    this.#records++;
    if (!isReply) return;
    this.#at++;
    this.#steps++;
  }

  /**
   * Compares the exit. A process lost with its daemon, or not resumed by the next one, was cut off, and a killed one may have
   * been: then no difference.
   */
  #end({ seq, body }: End, stage: ReplayStage, { player, exit }: Ended): Difference | undefined {
    if (CUT_OFF.has(body.reason)) return undefined;
    if (body.kind === "killed" && !player.hasEnded) return undefined;
    const beyond = player.beyond(seq);
    if (beyond !== undefined) return beyond;
    this.#records++;
    const expected = exitText(body, body.kind);
    const got = exitText(exitOf(stage, body, exit), body.kind);
    return expected === got ? undefined : { seq, what: "exit", ...differenceOf(expected, got) };
  }
}

/** The reasons of exits that no program had come to. */
const CUT_OFF: ReadonlySet<string> = new Set([EXIT.lost.reason, EXIT.unread.reason]);

/** The exit as it would be recorded. */
function exitOf(stage: ReplayStage, recorded: ExitBody, returned: ExitStatus): ExitBody {
  const { ending, result } = stage.proc;
  const { code, reason, kind, err } = ending.verdict ?? returned;
  const isCut = recorded.result.length === LIMITS.journalResultChars;
  return {
    code,
    reason: reason.slice(0, LIMITS.journalWordsChars),
    kind,
    result: isCut ? result.slice(0, LIMITS.journalResultChars) : result,
    ...(err === undefined
      ? {}
      : { error: { code: codeOf(err), message: err.message.slice(0, LIMITS.journalWordsChars) } }),
  };
}

/**
 * The compared part of an exit: for a killed process only the result; for a deadline not the error, which is not on the
 * tape.
 */
function exitText({ code, reason, kind, result, error }: ExitBody, recordedKind: string): string {
  if (recordedKind === "killed") return JSON.stringify({ result });
  const isDeadline = reason === EXIT.timeout.reason;
  return JSON.stringify({ code, reason, kind, result, ...(isDeadline ? {} : { error }) });
}

/** Resolves once the program can do no more without its tape, which is all it waits for. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
