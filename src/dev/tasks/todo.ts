/** /dev/todo: the to-do list of a process, in its own words. Stored with the process; written and read as a whole. */
import * as z from "zod";
import {
  type Caller,
  type Device,
  type FileStat,
  O_RDWR,
  type OpenFile,
  type WritePlan,
} from "../../abi/device.ts";
import { TASK_STATUSES } from "../../abi/task.ts";
import { jsonBytes } from "../answer.ts";
import { driverError, throwIfAborted } from "../driver-error.ts";

const NAME = "todo";
const stat: FileStat = { name: NAME, size: 0, isDevice: true, devicePath: "/dev/todo" };

const ITEM = z.strictObject({
  content: z.string().min(1).max(1_000),
  status: z.enum(TASK_STATUSES),
  active_form: z.string().max(200),
});
const LIST = z.array(ITEM).max(100);

export function todoDevice(): Device {
  return {
    name: NAME,
    traffic: "message",
    async open(subpath, flags, caller) {
      if (subpath !== "") throw driverError("Open", "NOT_FOUND", `file not found: /dev/todo${subpath}`);
      if (flags !== O_RDWR)
        throw driverError(
          "Open",
          "INVALID",
          "open /dev/todo for reading and writing; /proc/self/todo shows it",
        );
      return openTodo(caller);
    },
    stat: async () => stat,
    openEffects: () => [{ kind: "state", path: "/dev/todo" }],
  };
}

/** A write replaces the list; a list whose items are all completed is stored empty. */
function openTodo({ kept }: Caller): OpenFile {
  let rest: Uint8Array = jsonBytes(kept?.get(NAME) ?? []);
  return {
    async read(length, signal) {
      throwIfAborted(signal, "Read");
      const part = rest.subarray(0, length);
      rest = rest.subarray(part.byteLength);
      return part;
    },
    plan(bytes): WritePlan {
      parse(bytes);
      return { effects: [{ kind: "state", path: "/dev/todo" }], effectClass: "repeat" };
    },
    async write(bytes) {
      const todos = parse(bytes);
      const isDone = todos.every(({ status }) => status === "completed");
      kept?.set(NAME, isDone ? [] : todos);
      rest = jsonBytes(isDone ? [] : todos);
    },
    async close() {},
    stat: async () => stat,
  };
}

function parse(bytes: Uint8Array): z.output<typeof LIST> {
  try {
    return LIST.parse(JSON.parse(Buffer.from(bytes).toString("utf8")));
  } catch (cause) {
    const issue = cause instanceof z.ZodError ? cause.issues[0] : undefined;
    const place = (issue?.path ?? []).map(String).join(".");
    throw driverError(
      "Write",
      "INVALID",
      `todos${place === "" ? "" : `.${place}`}: ${issue?.message ?? "not JSON"}`,
      cause,
    );
  }
}
