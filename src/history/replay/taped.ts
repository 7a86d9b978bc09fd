/** A program's handle, all of whose inputs pass a tape. Its calls pass in the gate. */
import type { Clock, ProgramContext, ProgramSession } from "../../abi/program.ts";
import type { Tape } from "./tape.ts";

export function taped(tape: Tape, context: ProgramContext): ProgramContext {
  return {
    ...context,
    signal: tape.signal(context.signal),
    clock: tapedClock(tape, context.clock),
    session: context.session === null ? null : tapedSession(tape, context.session),
    checkpoint: (state) => {
      tape.flush();
      context.checkpoint(state);
    },
    addToCheckpoint: (part) => {
      tape.flush();
      context.addToCheckpoint(part);
    },
    hasMail: () => tape.input("hasMail", context.hasMail),
    isPaused: () => tape.input("isPaused", context.isPaused),
    ...standingOf(tape, context),
    waitIfPaused: async () => {
      if (tape.input("isHeld", context.isPaused))
        await tape.answer("untilResumed", null, context.waitIfPaused);
    },
    account: () => tape.input("account", context.account),
    random: () => tape.input("random", context.random),
    today: () => tape.input("today", context.today),
  };
}

function standingOf(tape: Tape, { standing }: ProgramContext): Pick<ProgramContext, "standing"> {
  return standing === undefined ? {} : { standing: () => tape.input("standing", standing) };
}

function tapedClock(tape: Tape, clock: Clock): Clock {
  return {
    now: () => tape.input("now", () => clock.now()),
    mono: () => tape.input("mono", () => clock.mono()),
    sleep: (ms, signal) => tape.answer("sleep", ms, () => clock.sleep(ms, signal)),
  };
}

function tapedSession(tape: Tape, session: ProgramSession): ProgramSession {
  return {
    ...session,
    begin: (input, isNew) => taped(tape, session.begin(input, isNew)),
    isQueued: (seq) => tape.input("isQueued", () => session.isQueued(seq)),
  };
}
