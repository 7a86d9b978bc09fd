/** snip: messages leave the view of the model that asks for it. Its loop does it; the kernel checks the view. */
import * as z from "zod";
import type { ViewWish } from "../../abi/context.ts";
import { defineTool } from "../tool.ts";
import { BY_THE_LOOP, WishMeta } from "../view-wish.ts";
import text from "./snip.md";

const Args = z.object({
  ids: z.array(z.int().min(1)).min(1).max(256).describe("numbers of messages"),
  reason: z.string().max(500).optional(),
});

export const snip = defineTool({
  name: "snip",
  hint: "drop old results from conversation",
  text,
  args: Args,
  meta: WishMeta,
  // it changes nothing outside this process
  readOnly: true,
  destructive: () => false,
  enabled: ({ snips }) => snips === true || "context.snip is not true in the settings",
  effects: () => [{ kind: "state", path: "/proc/self/contexts" }],
  view: ({ ids }) => ({ operation: `snip ${ids.length} messages`, params: {} }),
  about: ({ ids }) => ids.slice(0, 8).join(", "),
  activity: () => "Leaving out old messages",
  run: async ({ ids }) => {
    const view: ViewWish = { op: "snip", messages: ids };
    return { text: BY_THE_LOOP, meta: { view } };
  },
});
