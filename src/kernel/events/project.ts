/** Projections as clients ask for them (kernel IPC chapter, 7.6). */
import { Fault } from "../../abi/errors.ts";
import type { DeviceRecord } from "../../abi/methods/ipc/device.ts";
import type { Compacted, EventPlace, KernelEvent } from "../ports/events.ts";
import type { Intent, Projected, ProjectionWish } from "../ports/intents.ts";
import type { EventStates } from "./event-states.ts";
import { COMPACTED } from "./gaps.ts";
import type { JournalledEvents } from "./journalled-events.ts";
import type { States } from "./projections.ts";

const PAGE = 1_000;
const SUMMARY_CHARS = 200;

interface Sources {
  readonly events: JournalledEvents;
  readonly states: EventStates;
  /** As they are now. */
  readonly devices: readonly DeviceRecord[];
}

export async function project(sources: Sources, wish: ProjectionWish): Promise<Projected> {
  const { events, states, devices } = sources;
  const at = wish.at ?? (await events.head());
  const then = await states.at(at);
  const { projection } = wish;
  if (projection === "timeline") return { projection, at, ...(await timeline(events, at, wish)) };
  if (projection === "devices") return { projection, at, state: devicesOf(then, devices, wish.at) };
  return { projection, at, state: STATES[projection](then, wish) };
}

type Shown = (states: States, wish: ProjectionWish) => unknown;

const STATES: { readonly [N in Exclude<ProjectionWish["projection"], "timeline" | "devices">]: Shown } = {
  processes: ({ processes }, { pid, intentId, sees }) =>
    Object.fromEntries(
      [...processes].filter(
        ([key, each]) =>
          sees(key) && isAsked(pid, key) && (intentId === undefined || each.intentId === intentId),
      ),
    ),
  progress: ({ progress }, { pid, sees }) => {
    const shown: Record<string, Record<string, object>> = {};
    for (const [key, data] of progress) {
      const [about = "", name = ""] = key.split(" ");
      if (!sees(Number(about) || undefined) || !isAsked(pid, Number(about))) continue;
      shown[about] = { ...shown[about], [name]: data };
    }
    return shown;
  },
  intents: ({ intents }, { pid, intentId, correlationId, sees }) => {
    const all = [...intents.values()].filter(
      (each) =>
        sees(each.owner === 0 ? undefined : each.owner) &&
        isAsked(pid, each.owner) &&
        (correlationId === undefined || each.correlationId === correlationId),
    );
    const isRoot = ({ id, parent }: Intent): boolean =>
      intentId === undefined ? parent === null || !all.some((other) => other.id === parent) : id === intentId;
    return all.filter(isRoot).map((root) => tree(root, all));
  },
};

/** Devices that are always there have no event of their own: before anything was told of them they were free. */
function devicesOf({ devices }: States, now: readonly DeviceRecord[], at: number | undefined): object {
  if (at === undefined) return Object.fromEntries(now.map((each) => [each.id, each]));
  const free = (each: DeviceRecord) =>
    [each.id, { ...each, state: "free", claim: null, ...devices.get(each.id) }] as const;
  return Object.fromEntries([...devices, ...now.map(free)].filter(([, each]) => "kind" in each));
}

function isAsked(asked: number | undefined, own: number): boolean {
  return asked === undefined || asked === own;
}

function tree(
  { id, name, outcome, start, end, processes, correlationId }: Intent,
  all: readonly Intent[],
): object {
  const children = all.filter(({ parent }) => parent === id).map((child) => tree(child, all));
  return { id, name, outcome, start, end, correlationId, children, processes };
}

interface Page {
  readonly state: readonly object[];
  readonly next?: string;
}

/** INVALID: of neither a story nor an intent. A range that was compacted is one row. */
async function timeline(log: JournalledEvents, at: number, wish: ProjectionWish): Promise<Page> {
  const { correlationId, intentId, pid, sees } = wish;
  if (correlationId === undefined && intentId === undefined)
    throw new Fault({ code: "INVALID", message: "params: timeline needs correlationId or intentId" });
  const rows: object[] = [];
  let place: EventPlace = { seq: wish.after ?? 0 };
  for (;;) {
    const { events, next } = await log.read(place);
    for (const event of events) {
      if (event.seq > at) return { state: rows };
      const isGap = event.event === COMPACTED;
      const isOwn =
        (correlationId === undefined || event.correlationId === correlationId) &&
        (intentId === undefined || event.intentId === intentId) &&
        (pid === undefined || event.pid === pid) &&
        sees(event.pid);
      if (!isOwn && !isGap) continue;
      rows.push(rowOf(event));
      if (rows.length === PAGE) return { state: rows, next: String(event.seq) };
    }
    // a page that is empty because it was compacted is not the last
    if (events.length === 0 && next.record === place.record && next.seq === place.seq) return { state: rows };
    place = next;
  }
}

function rowOf(event: KernelEvent): object {
  const { seq, at, event: name, pid = null, causationId = null } = event;
  return { seq, at, event: name, pid, causationId, summary: summaryOf(event) };
}

function summaryOf({ event, data }: KernelEvent): string {
  if (event === COMPACTED) {
    const { counts } = data as Compacted;
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
    return `${total} events compacted`;
  }
  const { name, command, reason, message, outcome, summary } = data as Record<string, unknown>;
  const words = [
    name,
    outcome,
    Array.isArray(command) ? command.join(" ") : command,
    reason,
    message,
    summary,
  ]
    .filter((each) => typeof each === "string" && each !== "")
    .join(": ");
  return (words === "" ? JSON.stringify(data) : words).slice(0, SUMMARY_CHARS);
}
