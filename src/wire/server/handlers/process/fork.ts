import { asPid, asProcUuid } from "../../../../abi/ids.ts";
import type { Forked } from "../../../../kernel/ports/forks.ts";
import type { Handler } from "../../handler.ts";

const DEFAULT_STEPS = 100;
/** Bounds a step that changed thousands of files, so that it still fits into one line. */
const FILES_SHOWN = 20;

export const processSteps: Handler<"process.steps"> = async ({ pid, last = DEFAULT_STEPS }, { kernel }) => {
  const steps = await kernel.forks.steps(asPid(pid), last);
  return {
    payload: {
      pid,
      steps: steps.map(({ step, at, words, asked, files, commands, proc, seq }) => ({
        step,
        at: new Date(at).toISOString(),
        words,
        asked: [...asked],
        files: files.slice(0, FILES_SHOWN),
        file_count: files.length,
        commands,
        uuid: proc,
        seq,
      })),
    },
  };
};

export const processFork: Handler<"process.fork"> = async (params, call) => {
  const { kernel } = call;
  const { pid, at, text, client, wake, env, uuid } = params;
  const request = {
    ...(at === undefined ? {} : { at }),
    ...(text === undefined ? {} : { message: text }),
    ...(client === undefined ? {} : { client }),
    ...(wake === undefined ? {} : { wake }),
    ...(env === undefined ? {} : { env }),
    ...(uuid === undefined ? {} : { uuid: asProcUuid(uuid) }),
  };
  const forked = await call.repeats.once(
    "process.fork",
    params,
    call,
    (marked) => kernel.forks.fork(asPid(pid), { ...request, ...marked }),
    (made) => kernel.forks.again(made.pid, request),
  );
  return { payload: toWireFork(forked) };
};

export function toWireFork({ pid, uuid, step, from, at }: Forked) {
  return { pid, uuid, step, from, at };
}
