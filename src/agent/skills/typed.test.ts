import { expect, it } from "vitest";
import type { ProgramStart } from "../../abi/program.ts";
import { slashLines } from "./typed.ts";

const start = (initialPrompt?: string, slash?: true) =>
  ({
    agent: initialPrompt === undefined ? null : { manifest: { initialPrompt } },
    ...(slash === undefined ? {} : { slash }),
  }) as unknown as ProgramStart;

it.each([
  [start(undefined, true), "/greet Ada", ["/greet Ada"]],
  [start(), "/greet Ada", []],
  [start("/greet Ada", true), "/greet Ada\n\nhello", ["/greet Ada"]],
  [start("/greet Ada"), "/greet Ada\n\n/look up", ["/greet Ada"]],
  [start("/greet Ada", true), "/greet Ada\n\n/look up", ["/greet Ada", "/look up"]],
  [start("Be brief.", true), "Be brief.\n\n/look up", ["/look up"]],
  // a later message of a session
  [start("/greet Ada", true), "/look up", ["/look up"]],
])(
  "slashLines(): the initial prompt calls a skill, whoever started the agent; else only the user does (%#)",
  (begun, text, lines) => {
    expect(slashLines(begun, text)).toEqual(lines);
  },
);
