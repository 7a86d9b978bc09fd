/** A list drawn below the prompt to choose from: arrows or typed words select, Enter takes one, Esc none. */
import type { WireSession } from "../../abi/methods/session.ts";
import { type Key, parseKeys } from "../screen/keys.ts";
import { type Picking, picked, pickerLines } from "../screen/picker-lines.ts";
import type { Terminal } from "./streams.ts";

const HIDE = "\x1b[?25l";
const SHOW = "\x1b[?25h";

/** undefined: the user chose none. Restores the terminal. */
export async function choose(
  host: Terminal,
  sessions: readonly WireSession[],
  now: number = Date.now(),
): Promise<WireSession | undefined> {
  const { stdin, stdout, lifecycle } = host;
  const put = (text: string): void => void stdout.write(text, () => {});
  let picking: Picking = { sessions, filter: "", at: 0 };
  let drawn = 0;
  const erase = (): string => (drawn > 0 ? `\x1b[${drawn}A\r\x1b[J` : "");
  const draw = (): void => {
    const lines = pickerLines(picking, now, { columns: stdout.columns || 80, rows: stdout.rows || 24 });
    put(`${erase()}${lines.map((line) => `${line}\n`).join("")}`);
    drawn = lines.length;
  };
  const release = lifecycle.onEnd(() => {
    put(SHOW);
    stdin.setRawMode?.(false);
  });
  const { promise, resolve } = Promise.withResolvers<WireSession | undefined>();
  const take = (chunk: Buffer): void => {
    for (const key of parseKeys(chunk.toString("utf8"))) {
      const next = step(picking, key);
      if (next === "chosen" || next === "left") {
        resolve(next === "chosen" ? picked(picking) : undefined);
        return;
      }
      picking = next;
    }
    draw();
  };
  const end = (): void => resolve(undefined);
  stdin.setRawMode?.(true);
  stdin.on("data", take);
  stdin.on("end", end);
  stdin.resume();
  put(HIDE);
  draw();
  try {
    return await promise;
  } finally {
    stdin.off("data", take);
    stdin.off("end", end);
    stdin.pause();
    stdin.setRawMode?.(false);
    release();
    put(`${erase()}${SHOW}`);
  }
}

function step(picking: Picking, key: Key): Picking | "chosen" | "left" {
  if (key.kind === "text") return { ...picking, filter: picking.filter + key.text, at: 0 };
  switch (key.name) {
    case "up":
      return { ...picking, at: picking.at - 1 };
    case "down":
      return { ...picking, at: picking.at + 1 };
    case "home":
      return { ...picking, at: 0 };
    case "backspace":
      return { ...picking, filter: [...picking.filter].slice(0, -1).join(""), at: 0 };
    case "enter":
      return picked(picking) === undefined ? picking : "chosen";
    case "escape":
    case "ctrl_c":
      return "left";
    default:
      return picking;
  }
}
