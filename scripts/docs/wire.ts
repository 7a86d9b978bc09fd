/** docs/wire.md: the methods of the registry and the lines of its streams. */
import { EVENT_DOCS } from "../../src/abi/docs/events.ts";
import type { MethodDoc } from "../../src/abi/docs/method-doc.ts";
import { METHOD_DOCS } from "../../src/abi/docs/methods.ts";
import { ERRNO } from "../../src/abi/errno.ts";
import type { ProcessEvent } from "../../src/abi/events.ts";
import { METHODS, type MethodName } from "../../src/abi/methods/methods.ts";
import { PROTOCOL } from "../../src/abi/wire.ts";
import { OF_A_PROCESS } from "../../src/wire/server/authority.ts";
import { type Audience, toLine } from "../../src/wire/server/progress.ts";
import { type FieldRow, readEvents, readInterface } from "./interface-rows.ts";
import { type Row, readSchema } from "./schema-rows.ts";
import { code, MADE, table } from "./table.ts";

const RIGHTS = {
  self: "every client",
  observe: "every client of the user",
  control: "every client of the user",
  spawn: "every client of the user",
  approve: "a client that has sent `auth`",
  admin: "a client that has sent `auth`",
} as const;

const OF_PROCESSES = {
  always: "programs of processes too",
  sees: "programs of processes too, for processes that they see",
  acts: "programs of processes too, as themselves",
} as const;

export function wirePage(): string {
  const names = Object.keys(METHODS) as MethodName[];
  return [
    MADE,
    introduction(),
    `## Methods\n\n${names.map((name) => `[${code(name)}](#${anchorOf(name)})`).join(" · ")}`,
    ...names.map(methodSection),
    eventsSection(),
    linesSection(),
    "",
  ].join("\n\n");
}

function introduction(): string {
  const codes = Object.entries(ERRNO).map(([name, { means, retryable }]) => [
    code(name),
    means,
    retryable ? "yes" : "no",
  ]);
  return `# The wire

A client talks to the daemon over a Unix socket: \`$XDG_RUNTIME_DIR/crux/crux.sock\`, or the path in \`CRUX_SOCKET\`. Each line is one
JSON object in UTF-8, at most ${PROTOCOL.maxLineBytes / 1024 / 1024} MiB long.

\`\`\`
→ {"id":1,"method":"ping"}
← {"id":1,"ok":true,"payload":{"version":"0.1.0"}}
→ {"id":2,"method":"kill","payload":{"pid":99}}
← {"id":2,"ok":false,"error":{"code":"NOT_FOUND","message":"process not found: 99"}}
\`\`\`

- \`id\` is a text or number of the client's choice; the response repeats it. Requests of one connection are answered in order; starts with \`detach\` that follow one another are carried out together, up to 64.
- \`payload\` holds the parameters. An unknown key in it is an error. An absent payload is an empty one.
- After the response to a **stream** method the connection carries only lines \`{"type":…,"payload":…}\` and then closes. Use another
  connection for further requests.
- A request with an \`idempotency_key\` happens once for a day, however often it is sent.
- At most ${PROTOCOL.maxConnections} connections may be open, and at most ${PROTOCOL.maxConnectionsOfProcess} from the programs of one process.

## How lines are read

| the client sends | the answer |
| --- | --- |
| \`\\r\\n\` at the end of a line | the same as with \`\\n\` |
| an empty line | none |
| a line in pieces | once its end has come; a line of which no byte has come for ${PROTOCOL.unfinishedLineMs / 1000} s ends the connection |
| several lines at once | to each, in their order |
| anything but \`{\` (or \`K\`, the [binary wire](kernel-ipc.md)) as its first byte, such as a byte order mark | \`INVALID\`, and the connection ends |
| a line that is not JSON, not an object, not UTF-8, or has a byte order mark before it | \`INVALID\`, and the connection continues |
| a line of more than ${PROTOCOL.maxLineBytes / 1024 / 1024} MiB | \`INVALID\`, after the answers to the lines before it; the connection ends |
| the end of its side (a half-closed socket) | to all lines before it; then the connection ends, a stream with its last line |
| a last line without its end, then the end of its side | none: nothing says that all of it has come, and it is not carried out |

## Who may call

The daemon knows the process at the other end of the socket. A client of the user may look, start and control. To answer questions,
grant and administer it first sends \`auth\` with the content of \`crux.cookie\`, a file beside the socket. A program that an agent
started is that agent: it may call the few methods that say so below.

## Errors

An error has a \`code\` and a \`message\`, and where they help \`syscall\`, \`device\`, \`pid\`, \`hint\` (what to do next), \`fact\` (the same, for a program that words it itself) and \`details\`.

${table(["code", "means", "try again"], codes)}

Every method may answer \`INVALID\` (the line or payload does not fit the schema), \`PERMISSION\` (the caller may not call it),
\`UNAVAILABLE\` (the daemon is stopping, or its journal cannot be written now) and \`INTERNAL\` (a bug). The methods below name these
only where they mean something more.`;
}

function methodSection(name: MethodName): string {
  const { summary, kind, right, params, result } = METHODS[name];
  const doc: MethodDoc<MethodName> = METHOD_DOCS[name];
  const also = OF_A_PROCESS[name];
  const callers = [RIGHTS[right], ...(also === undefined ? [] : [OF_PROCESSES[also]])];
  const who = right === "self" ? RIGHTS.self : callers.join("; ");
  return [
    `### ${name}`,
    `${capital(summary)}. ${kind === "stream" ? "A stream. " : ""}Right \`${right}\`: ${who}.`,
    fields("Parameters", readSchema(params)),
    ...(result === undefined ? ["No result."] : [fields("Result", readSchema(result))]),
    ...(doc.stream === undefined ? [] : [`Lines: ${doc.stream}`]),
    errors(doc),
    example(name, doc),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function fields(title: string, { meaning, rows }: ReturnType<typeof readSchema>): string {
  if (rows.length === 0) return title === "Parameters" ? "No parameters." : "";
  const head = meaning === "" ? `${title}:` : `${title}. ${meaning}`;
  return `${head}\n\n${table(["field", "type", "meaning"], rows.map(cells))}`;
}

function cells({ path, type, isOptional, meaning }: Row): string[] {
  return [code(path), isOptional ? `${type}, optional` : type, meaning];
}

function errors({ errors }: MethodDoc<MethodName>): string {
  const known = Object.entries(errors);
  if (known.length === 0) return "";
  return `Errors:\n\n${known.map(([name, why]) => `- \`${name}\`: ${why}`).join("\n")}`;
}

function example(method: MethodName, { params, result, lines = [] }: MethodDoc<MethodName>): string {
  const isEmpty = Object.keys(params).length === 0;
  const request = { id: 1, method, ...(isEmpty ? {} : { payload: params }) };
  const response = { id: 1, ok: true, ...(result === undefined ? {} : { payload: result }) };
  const sent = [response, ...lines].map((line) => `← ${JSON.stringify(line)}`);
  return ["```", `→ ${JSON.stringify(request)}`, ...sent, "```"].join("\n");
}

const PLAIN: Audience = { interactive: false, verbose: false, calls: false };
const ALL: Audience = { interactive: true, verbose: true, calls: true };

function eventsSection(): string {
  const sections = Object.entries(EVENT_DOCS).map(([name, { sent, example: event }]) => {
    const line = toLine(event, ALL);
    const more = keysOf(event, ALL).filter((key) => !keysOf(event, PLAIN).includes(key));
    const whole = keysOf(event, PLAIN).length === 0;
    const told =
      whole || more.length === 0
        ? ""
        : ` Only with \`interactive\` or \`verbose\`: ${more.map(code).join(", ")}.`;
    return `### ${name}\n\n${sent}${whole ? ` ${audienceOf(event)}` : ""}${told}\n\n${fieldsOf(name)}\n\n\`\`\`\n← ${JSON.stringify(line)}\n\`\`\``;
  });
  return `## Events of a process

\`spawn\`, \`process.attach\` and \`session.open\` send these. The request says which: \`interactive\`, \`verbose\` and \`calls\` add events and
fields; a client that sends none of them gets the others. Each event has \`event\` and \`pid\`; fields that say nothing are left out.

${sections.join("\n\n")}`;
}

/** `ask_closed` is AskClosedEvent, `sched.waiting` is SchedWaitingEvent. */
function fieldsOf(event: string): string {
  const type = event.split(/[_.]/).map(capital).join("");
  const rows = readInterface("abi/wire-events.ts", `${type}Event`);
  return table(
    ["field", "type", "meaning"],
    rows.filter(({ name }) => name !== "event" && name !== "pid").map((row) => fieldCells(row)),
  );
}

function fieldCells({ name, type, isOptional, meaning }: FieldRow): string[] {
  return [code(name), `${code(type)}${isOptional ? ", optional" : ""}`, meaning];
}

function keysOf(event: ProcessEvent, audience: Audience): string[] {
  return Object.keys(toLine(event, audience)?.payload ?? {});
}

function audienceOf(event: ProcessEvent): string {
  const asks = (["interactive", "verbose", "calls"] as const).filter(
    (key) => toLine(event, { ...PLAIN, [key]: true }) !== undefined,
  );
  return `Only with ${asks.map(code).join(" or ")}.`;
}

function linesSection(): string {
  const part = (title: string, text: string, file: string, name: string): string => {
    const rows = readInterface(file, name).map(fieldCells);
    return `### ${title}\n\n${text}\n\n${table(["field", "type", "meaning"], rows)}`;
  };
  return [
    "## Other lines",
    "`eof` ends a stream. Its `dropped` is the number of lines that the client was too slow for; absent: none.",
    projectEvents(),
    part(
      "syscall_event",
      "One finished kernel call, sent by `attach_debug`.",
      "abi/wire.ts",
      "SyscallEventWire",
    ),
    part("journal line", "A record, in the `text` of `journal.read`.", "abi/journal/line.ts", "JournalLine"),
    part("check report", "`complete` of `journal.check`.", "abi/journal/wire.ts", "CheckWire"),
    part("finding", "One of the `findings`, and `broken`.", "abi/journal/wire.ts", "FindingWire"),
    part("verify report", "`complete` of `journal.verify`.", "abi/journal/wire.ts", "VerifyWire"),
    part("root", "`record` of `journal.roots`.", "abi/journal/wire.ts", "AnchorWire"),
    part("collect report", "`complete` of `journal.collect`.", "abi/journal/wire.ts", "CollectWire"),
    part("usage", "`usage` of the collect report.", "abi/journal/wire.ts", "UsageWire"),
  ].join("\n\n");
}

function projectEvents(): string {
  const rows = readEvents("abi/compose/wire.ts", "ProjectEventWire");
  return `### Events of a project

\`compose.up\` sends these in lines of the type \`event\`. \`log\`, which \`compose.logs\` sends too, has a type of its own.

${table(
  ["event", "fields"],
  rows.map((cells) => cells.map(code)),
)}`;
}

function anchorOf(name: string): string {
  return name.replaceAll(".", "");
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
