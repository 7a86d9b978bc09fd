/** pin: what the model keeps in its view, whatever is compacted. Its loop does it, within bounds of its own. */
import * as z from "zod";
import type { ViewWish } from "../../abi/context.ts";
import { badArguments } from "../failure.ts";
import { defineTool } from "../tool.ts";
import { BY_THE_LOOP, WishMeta } from "../view-wish.ts";
import text from "./pin.md";

const MOST = 8;

const Args = z.object({
  ids: z.array(z.int().min(1)).max(MOST).default([]).describe("numbers of messages"),
  text: z.string().min(1).max(2_000).optional(),
  off: z.boolean().default(false).describe("unpin ids"),
});
type Args = z.output<typeof Args>;

export const pin = defineTool({
  name: "pin",
  hint: "keep message in view always",
  text,
  args: Args,
  meta: WishMeta,
  // it changes nothing outside this process
  readOnly: true,
  destructive: () => false,
  effects: () => [{ kind: "state", path: "/proc/self/contexts" }],
  view: ({ off, text: words }) => ({
    operation: off ? "unpin messages" : "pin in the conversation",
    params: words === undefined ? {} : { text: words },
  }),
  about: ({ ids, text: words = "", off }) =>
    ids.length === 0 ? words.slice(0, 60) : `${off ? "off " : ""}${ids.join(", ")}`,
  activity: ({ off }) => (off ? "Unpinning messages" : "Pinning messages"),
  run: async (args) => ({ text: BY_THE_LOOP, meta: { view: wishOf(args) } }),
});

function wishOf({ ids, text: words, off }: Args): ViewWish {
  if (off && words !== undefined) throw badArguments("pin: a text is unpinned by its number, in ids");
  if (ids.length === 0 && words === undefined) throw badArguments("pin: it needs ids or a text");
  if (off) return { op: "unpin", messages: ids };
  return { op: "pin", messages: ids, ...(words === undefined ? {} : { text: words }) };
}
