/** How a program hands on what the model asks of its own view: only its loop moves that. */
import * as z from "zod";

/** What the caller reads where no loop takes it up. */
export const BY_THE_LOOP = "The loop of an agent does this once the calls of its reply have ended.";

const messages = z.array(z.int());

export const WishMeta = z.strictObject({
  view: z.discriminatedUnion("op", [
    z.strictObject({ op: z.literal("list") }),
    z.strictObject({ op: z.literal("snip"), messages }),
    z.strictObject({ op: z.literal("unpin"), messages }),
    z.strictObject({ op: z.literal("pin"), messages, text: z.string().optional() }),
  ]),
});
