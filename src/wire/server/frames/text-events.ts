/** The lines that follow the answer to a stream method of the text wire, as events of the binary wire. */
import type { IpcEvent } from "../../../abi/ipc.ts";
import type { WireStreamLine } from "../../../abi/wire.ts";

/** `agent.step` and so on for what a run reports; for other streams the type of the line. */
export function eventOf(line: string): Pick<IpcEvent, "event" | "pid" | "data"> {
  const { type, payload } = JSON.parse(line) as WireStreamLine;
  const data = (payload ?? {}) as { readonly pid?: number; readonly event?: string };
  const isOfRun = type === "progress" || type === "complete" || type === "error";
  const event = isOfRun ? `agent.${data.event ?? type}` : type;
  return { event, ...(data.pid === undefined ? {} : { pid: data.pid }), data };
}
