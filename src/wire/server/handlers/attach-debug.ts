import type { SyscallEvent } from "../../../abi/events.ts";
import { asPid } from "../../../abi/ids.ts";
import type { SyscallEventWire } from "../../../abi/wire.ts";
import { encodeLine, encodeSyscallEvent } from "../../codec/ndjson.ts";
import { follow } from "../follow.ts";
import type { Handler } from "../handler.ts";
import { LineBatch } from "../line-batch.ts";

/**
 * A slow reader blocks only its own queue in the kernel, which drops and counts; `eof` has the number. Only clients
 * that set `all` get the keys of the astrace screen: for others the documented line is unchanged.
 */
export const attachDebug: Handler<"attach_debug"> = async ({ pid, all }, { kernel, clock, ended }) => {
  const events = kernel.attachDebug(asPid(pid), { all: all ?? false });
  return {
    payload: undefined,
    follow: async (send) => {
      const batch = new LineBatch(send, clock);
      const complete = await follow(events, ended, (event) =>
        batch.add(encodeSyscallEvent(toWire(event, all !== undefined))),
      );
      if (!(await batch.flush()) || !complete) return;
      const { dropped } = events;
      await send(encodeLine(dropped === 0 ? { type: "eof" } : { type: "eof", payload: { dropped } }));
    },
  };
};

function toWire(event: SyscallEvent, forScreen: boolean): SyscallEventWire {
  const { result, error, device, traffic, quiet } = event;
  return {
    timestamp_ms: Math.floor(event.timestampMs),
    pid: event.pid,
    syscall: event.syscall,
    args: event.args,
    ...(result === undefined ? {} : { result }),
    ...(error === undefined ? {} : { error }),
    duration_ms: event.durationMs,
    ...(forScreen && device !== undefined ? { device } : {}),
    ...(forScreen && traffic !== undefined ? { traffic } : {}),
    ...(forScreen && quiet !== undefined ? { quiet } : {}),
  };
}
