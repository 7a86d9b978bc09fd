// The plan of the house (ARCHITECTURE.md): which houses src/ has, the rooms inside them, and who may import whom.
// Between houses a wrong import is refused at once. Inside one, what still runs against the plan is counted
// (scripts/arrows.txt) and may only become less.
import { posix } from "node:path";

const ground = ["lib", "abi"];
const middle = ["store", "permit", "llm", "dev"];
const daemonSide = [...ground, "wire/codec", "kernel", ...middle, "tool", "agent", "wire/server"];
const clientSide = [...ground, "wire/codec", "wire/client"];

/**
 * What each house may import besides itself. Houses that only meet in boot do not name each other.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
const mayImport = {
  lib: [],
  abi: ["lib"],
  "wire/codec": ground,
  kernel: ground,
  ...Object.fromEntries(middle.map((house) => [house, [...ground, "wire/codec", "kernel"]])),
  tool: ground,
  agent: ground,
  "wire/server": daemonSide,
  daemon: daemonSide,
  cluster: [...daemonSide, "daemon"],
  boot: [...daemonSide, "daemon", "cluster"],
  "wire/client": [...ground, "wire/codec"],
  cli: clientSide,
  main: [...daemonSide, "daemon", "cluster", "boot", ...clientSide, "cli"],
};

/** Houses that reach the world by system call alone. */
export const behindTheGate = new Set(["tool", "agent"]);

/** What stands on the kernel, in houses of its own beside it, lowest first. All bring processes back (history/recover). */
const consent = ["labels", "ask", "grants", "classify", "plan"].map((room) => `consent/${room}`);
const history = ["fork", "replay"].map((room) => `history/${room}`);
const above = new Set(["consent", "history", "supervise", "session"]);
/** The interactive terminal stands beside the commands, which open it; it uses their screens and dialogs. */
const terminal = ["tui/text", "tui/state", "tui/editor", "tui/view", "tui/drive", "tui/screens", "tui"];

/**
 * The rings of each house, lowest first: a ring may import those before it. Inside a ring stand rooms that do not
 * know each other; where one is a list, each room in it may import those before it. `x/*` is every other folder of x.
 * @type {Readonly<Record<string, readonly (readonly (string | readonly string[])[])[]>>}
 */
const rings = {
  kernel: [
    [["kernel/ports", "kernel/limits"]],
    ["kernel/facts"],
    ["kernel/labels", "kernel/redact"],
    [
      "kernel/vfs",
      "kernel/ipc",
      "kernel/context",
      "kernel/account",
      "kernel/log",
      "kernel/schedule",
      "kernel/hal",
    ],
    ["kernel/process"],
    ["kernel/native", "kernel/events"],
    ["kernel/gate"],
    ["kernel/calls"],
    ["supervise/record"],
    ["history/recover"],
    [[...consent, "consent"], [...history, "history"], ["supervise", "supervise/compose"], "session"],
    ["kernel"],
  ],
  abi: [["abi"], ["abi/media"], ["abi/*"], ["abi/docs"]],
  store: [["store"], ["store/journal"], ["store/sqlite"], ["store/offline"]],
  permit: [
    ["permit/shell"],
    ["permit/rules"],
    ["permit/judge"],
    ["permit/sandbox", "permit/auto"],
    ["permit"],
  ],
  llm: [
    ["llm"],
    ["llm/http"],
    ["llm/openai"],
    ["llm/responses"],
    ["llm/anthropic", "llm/gemini"],
    ["llm/*"],
    ["llm/devices"],
  ],
  dev: [["dev"], ["dev/net"], ["dev/host"], ["dev/out"], ["dev/*"]],
  tool: [["tool"], ["tool/agent"], ["tool/*"]],
  agent: [
    ["agent/definition", "agent/program"],
    ["agent/model"],
    ["agent/deferred"],
    ["agent/tools"],
    ["agent"],
  ],
  "wire/server": [["wire/server"], ["wire/server/handlers"], ["wire/server/methods"]],
  cli: [
    ["cli/help", "cli/screen", "cli/daemon"],
    ["cli/terminal"],
    ["cli/host"],
    ["cli"],
    ["cli/dialog"],
    ["cli/run"],
    ["cli/chat"],
    [terminal],
    ["cli/command"],
    ["cli/print"],
    ["cli/acp"],
    ["cli/main"],
  ],
};

/** Files whose room is not their folder's: the rest of the kernel's own files put it together. */
const roomOfFile = new Map([
  ["kernel/limits.ts", "kernel/limits"],
  ["kernel/queue.ts", "kernel/limits"],
  ["wire/server/handlers.ts", "wire/server/methods"],
  ["cli/main.ts", "cli/main"],
  ["cli/cli.ts", "cli/main"],
  ["cli/commands.ts", "cli/main"],
]);

/** What the kernel shows to other houses; only boot, which puts it together, sees more. */
const faceOfKernel = ["kernel/ports", "kernel/limits"];

/** @type {Map<string, { ring: number, branch: number, place: number }>} */
const spots = new Map();
for (const house of Object.values(rings))
  for (const [ring, branches] of house.entries())
    for (const [branch, rooms] of branches.entries())
      for (const [place, room] of [rooms].flat().entries()) spots.set(room, { ring, branch, place });

/** @param {string} path inside src/ @returns {string | undefined} */
export function houseOf(path) {
  const [first = "", second = ""] = path.split("/");
  if (second === "") return first === "main.ts" ? "main" : undefined;
  if (above.has(first)) return "kernel";
  if (first === "tui") return "cli";
  const house = first === "wire" ? `wire/${second}` : first;
  return Object.hasOwn(mayImport, house) ? house : undefined;
}

/**
 * The room in which a file stands, by the name that it has in the plan.
 * @param {string} path inside src/
 */
export function roomOf(path) {
  const known = roomOfFile.get(path);
  if (known) return known;
  for (let folder = posix.dirname(path); folder !== "."; folder = posix.dirname(folder)) {
    if (spotOf(folder)) return folder;
  }
  return houseOf(path) ?? "";
}

/** @param {string} room */
function spotOf(room) {
  return spots.get(room) ?? spots.get(`${posix.dirname(room)}/*`);
}

/**
 * Whether the plan lets a file import another of its house, or one of the kernel.
 * @param {string} path
 * @param {string} target
 */
export function isDown(path, target) {
  const [from, to, house] = [roomOf(path), roomOf(target), houseOf(path)];
  if (from === to) return true;
  if (house !== houseOf(target))
    return houseOf(target) !== "kernel" || house === "boot" || faceOfKernel.includes(to);
  const [high, low] = [spotOf(from), spotOf(to)];
  if (!high || !low) return true;
  if (high.ring !== low.ring) return high.ring > low.ring;
  return high.branch === low.branch && high.place > low.place;
}

/** @param {string} house @param {string} other @returns {string | undefined} why one may not import the other */
export function refusal(house, other) {
  if (house === other || mayImport[house]?.includes(other)) return undefined;
  if (behindTheGate.has(house) && other === "kernel")
    return "it sees of the kernel only the Sys handle in abi";
  if (mayImport[other]?.includes(house)) return `${other} is above ${house}`;
  return "they meet in boot, or over the wire";
}
