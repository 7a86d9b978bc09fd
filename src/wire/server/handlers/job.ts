/** Background commands of processes: their owners and their output. */
import { asPid } from "../../../abi/ids.ts";
import type { WireJob } from "../../../abi/methods/job.ts";
import type { JobView } from "../../../abi/ops/jobs.ts";
import type { WireStreamLine } from "../../../abi/wire.ts";
import { encodeLine } from "../../codec/ndjson.ts";
import type { Handler } from "../handler.ts";
import { ended } from "./journal.ts";

export const jobList: Handler<"job.list"> = async ({ pid }, { kernel }) => {
  const jobs = await (pid === undefined ? kernel.jobs() : kernel.jobs(asPid(pid)));
  return { payload: { jobs: jobs.map(jobWire) } };
};

/** When following, the stream ends as soon as the client leaves; its command continues. */
export const jobOutput: Handler<"job.output"> = async (params, call) => {
  const { pid, job, from = 0, follow: isFollowed = false } = params;
  const signal = isFollowed ? call.ended : call.gone;
  const pieces = call.kernel.jobOutput(asPid(pid), job, { from, isFollowed, signal });
  return {
    payload: undefined,
    follow: async (send) => {
      const isDone = await ended(send, async () => {
        for await (const data of pieces) {
          const payload = { pid, data: { base64: Buffer.from(data).toString("base64") } };
          const line: WireStreamLine = { type: "log", payload };
          if (!(await send(encodeLine(line)))) return false;
        }
        return true;
      });
      if (isDone) await send(encodeLine({ type: "eof" }));
    },
  };
};

function jobWire({ is_told: _isTold, ...job }: JobView): WireJob {
  return { ...job };
}
