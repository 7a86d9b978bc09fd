import { estimateTokens, saidTokens } from "../tokens.ts";
import { type Medium, mediaTokens } from "./media.ts";

interface Said {
  readonly content: string;
  readonly blocks?: readonly unknown[];
  readonly media?: readonly Medium[];
}

/** The role, and what stands between the messages of a request. */
const FRAME = 8;

const known = new WeakMap<Said, number>();

/** The estimated tokens of a message of a context, which must not change. */
export function messageTokens(message: Said): number {
  const tokens = known.get(message) ?? counted(message);
  known.set(message, tokens);
  return tokens;
}

function counted({ content, blocks, media = [] }: Said): number {
  const said = blocks === undefined ? saidTokens(content) : estimateTokens(JSON.stringify(blocks));
  return said + mediaTokens(media) + FRAME;
}
