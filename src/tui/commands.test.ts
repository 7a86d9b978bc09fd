import { expect, test } from "vitest";
import type { WireEvent } from "../abi/wire-events.ts";
import { en } from "../cli/screen/words/en.ts";
import { putOutput } from "./commands.ts";
import { EMPTY } from "./state/model.ts";
import { reduce } from "./state/reduce.ts";

test("what a command prints while a reply comes stands before it, and stays once it is whole", () => {
  const usage = {
    ...{ input_tokens: 1, output_tokens: 1 },
    ...{ cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
  };
  const app = { model: EMPTY };
  const take = (event: object): void => {
    app.model = reduce(app.model, { pid: 1, ...event } as WireEvent, { words: en, client: "me", mono: 0 });
  };
  const begins = (index: number): void =>
    take({
      event: "delta",
      piece: { type: "content_block_start", index, content_block: { type: "text", text: `b${index}` } },
    });
  take({ event: "delta", piece: { type: "message_start", message: { id: "m", model: "x", usage } } });
  begins(0);
  putOutput(app, "/jobs", "none\n");
  begins(1);
  expect(app.model.entries).toMatchObject([{ title: "/jobs", text: "none" }, { text: "b0" }, { text: "b1" }]);
  const content = [{ type: "text", text: "whole" }];
  take({ event: "message", id: "m", model: "x", content, stop_reason: "end_turn", usage, duration_ms: 1 });
  expect(app.model.entries).toMatchObject([{ title: "/jobs" }, { kind: "text", text: "whole" }]);
});
