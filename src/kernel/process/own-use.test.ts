import { expect, test } from "vitest";
import { OwnUse } from "./own-use.ts";

const piece = (delta: object) => ({ type: "content_block_delta", index: 0, delta }) as never;

test("the tokens of a reply are estimated while it comes, until it is charged or tried again", () => {
  const used = new OwnUse();
  used.begins();
  used.comes(piece({ type: "text_delta", text: "12345" }));
  used.comes(piece({ type: "thinking_delta", thinking: "1234" }));
  used.comes({ type: "message_stop" } as never);
  expect([used.tokens, used.comingTokens]).toEqual([0, 3]);
  used.add({ tokens: 9, usd: 0 } as never);
  expect([used.tokens, used.comingTokens]).toEqual([9, 0]);
  used.comes(piece({ type: "input_json_delta", partial_json: "{}" }));
  used.begins();
  expect(used.comingTokens).toBe(0);
});
