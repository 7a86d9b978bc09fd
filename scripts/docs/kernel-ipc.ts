/** The tables of docs/kernel-ipc.md: methods, events and errors. The rest of the page is written by hand. */
import { readFileSync } from "node:fs";
import { IPC_SAMPLES } from "../../src/abi/docs/ipc-samples.ts";
import { ERRNO } from "../../src/abi/errno.ts";
import { KERNEL_EVENTS } from "../../src/abi/methods/ipc/kernel-events.ts";
import { IPC_METHODS, type IpcMethodName } from "../../src/abi/methods/ipc/methods.ts";
import type { IpcMethodSpec } from "../../src/abi/methods/ipc/spec.ts";
import { code, MADE, table } from "./table.ts";

const END = "<!-- end -->";

export function kernelIpcPage(): string {
  const page = readFileSync(new URL("../../docs/kernel-ipc.md", import.meta.url), "utf8");
  const [before = "", rest = ""] = page.split(MADE, 2);
  const after = rest.slice(rest.indexOf(END) + END.length);
  return `${before}${MADE}\n\n${tables()}\n\n${END}${after}`;
}

function tables(): string {
  return [methods(), events(), errors()].join("\n\n");
}

function methods(): string {
  const rows = (Object.entries(IPC_METHODS) as [IpcMethodName, IpcMethodSpec][]).map(
    ([name, { right, idempotent, errors = [], summary }]) => [
      code(name),
      right,
      idempotent ? "" : "key",
      errors.map(code).join(" "),
      summary,
      code(JSON.stringify(IPC_SAMPLES[name])),
    ],
  );
  return `Every method may return \`INVALID\` and \`PERMISSION\`. A repeated request takes effect once more where \`key\` stands, unless both have the same
key.

${table(["method", "right", "repeat", "errors", "", "params, for example"], rows)}`;
}

function events(): string {
  const rows = Object.entries(KERNEL_EVENTS).map(([name, { summary, retention }]) => [
    code(name),
    retention === "none" ? "" : retention,
    summary,
  ]);
  return `Those kept in the journal come to \`event.subscribe\`, from any position.\n\n${table(["event", "kept in", ""], rows)}`;
}

function errors(): string {
  const rows = Object.entries(ERRNO).map(([name, { means, retryable }]) => [
    code(name),
    retryable ? "yes" : "",
    means,
  ]);
  return table(["error", "retry helps", ""], rows);
}
