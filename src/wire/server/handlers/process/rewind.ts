import { asPid } from "../../../../abi/ids.ts";
import type { Handler } from "../../handler.ts";
import { toWireFork } from "./fork.ts";

export const processRewind: Handler<"process.rewind"> = async (params, { kernel }) => {
  const { pid, at, files = false, dry_run: dryRun = false, force = false, fork = true } = params;
  const place = at === undefined ? {} : { at };
  const done = await kernel.forks.rewind(asPid(pid), {
    ...place,
    files,
    dryRun,
    force,
    ...(fork ? {} : { fork }),
  });
  return {
    payload: {
      pid,
      step: done.step,
      seq: done.seq,
      refused: done.conflicts.length > 0 && !force,
      files: [...done.files],
      conflicts: [...done.conflicts],
      commands: [...done.commands],
      command_count: done.commandCount,
      fork: done.fork === null ? null : toWireFork(done.fork),
    },
  };
};
