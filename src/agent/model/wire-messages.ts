/**
 * Converts context messages to those of the model API. Guaranteed for any context: the first message is the user's,
 * roles alternate, and every tool_use has exactly one tool_result, in the next message, in the same order.
 */
import type { Block, WireMessage } from "../../abi/llm.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import { isMedia } from "../../abi/tool.ts";
import { Running } from "../../lib/grow/running.ts";
import { callsOf } from "./blocks.ts";
import { readableBy } from "./in-use.ts";

export const OUTCOME_UNKNOWN = "outcome unknown after a crash, check before repeating";
const UNKNOWN_RESULT: ContextMessage = { role: "tool", content: OUTCOME_UNKNOWN, is_error: true };

/** The limit of base64 media in one request: with its text, the request stays below the limit of one write. */
const MAX_MEDIA_CHARS = 6 * 1024 * 1024;
const PICTURE_LEFT_OUT = "[a picture is not shown any more: the conversation holds newer ones]";
const LEFT_OUT = "[it is not shown any more: the conversation holds newer ones; view it again to see it]";

/** The messages up to the last one of the model: what they came to stays, whatever is added. */
interface Settled {
  /** The model they are for. */
  readonly maker: string;
  readonly messages: readonly ContextMessage[];
  readonly wire: readonly WireMessage[];
  /** All that was made last, with what may still change at its end. */
  readonly all: readonly WireMessage[];
}

/** What is settled of each conversation, by its first message. */
const settled = new WeakMap<ContextMessage, Settled>();

/**
 * The same messages of a conversation that has grown are the same objects; neither they nor their blocks change.
 * `maker`: the model that will read them; what only another one can read is left out.
 */
export function toWireMessages(messages: readonly ContextMessage[], maker = ""): WireMessage[] {
  const [first] = messages;
  if (first === undefined) return startedByUser([]);
  const known = knownOf(first, messages, maker);
  const wire = new Growing(known.wire, known.all);
  let count = known.messages.length;
  for (let i = count; i < messages.length; i++) {
    const message = messages[i] as ContextMessage;
    if (message.role === "tool") continue; // a result without its call
    if (message.role !== "assistant") {
      wire.add("user", blocksOf(message, maker));
      continue;
    }
    count = i;
    wire.settle();
    const blocks = blocksOf(message, maker);
    wire.add("assistant", blocks);
    const results: ContextMessage[] = [];
    while (messages[i + 1]?.role === "tool") results.push(messages[++i] as ContextMessage);
    wire.add("user", pairedResults(blocks, results));
  }
  const all = wire.finish();
  settled.set(first, { maker, messages: messages.slice(0, count), wire: wire.settled(), all });
  return startedByUser(withoutOld(all));
}

function knownOf(first: ContextMessage, messages: readonly ContextMessage[], maker: string): Settled {
  const known = settled.get(first);
  const isSame = known?.maker === maker && known.messages.every((message, i) => message === messages[i]);
  return known !== undefined && isSame ? known : { maker, messages: [], wire: [], all: [] };
}

function startedByUser(wire: WireMessage[]): WireMessage[] {
  if (wire[0]?.role === "user") return wire;
  return [{ role: "user", content: textBlocks("[earlier messages are left out]") }, ...wire];
}

/** Keeps the newest images up to the limit, and replaces older ones by a note. */
function withoutOld(wire: WireMessage[]): WireMessage[] {
  if (mediaChars.of(wire) <= MAX_MEDIA_CHARS) return wire;
  let left = MAX_MEDIA_CHARS;
  return wire
    .toReversed()
    .map((message) => {
      const content = message.content.toReversed().map((block) => {
        left -= mediaOf(block);
        return left >= 0 || mediaOf(block) === 0 ? block : withoutMedia(block);
      });
      return { ...message, content: content.reverse() };
    })
    .reverse();
}

const mediaChars = new Running<WireMessage, number>(0, (sum, { content }) =>
  content.reduce((chars, block) => chars + mediaOf(block), sum),
);

function mediaOf(block: Block): number {
  if (isMedia(block)) return block.data.length;
  if (block.type !== "tool_result" || block.media === undefined) return 0;
  return block.media.reduce((sum, { data }) => sum + data.length, 0);
}

function withoutMedia(block: Block): Block {
  if (isMedia(block)) return { type: "text", text: PICTURE_LEFT_OUT };
  if (block.type !== "tool_result") return block;
  const { media: _media, ...words } = block;
  return { ...words, content: `${block.content}\n${LEFT_OUT}` };
}

/**
 * Messages in the making: neighbouring ones of the same role are merged. What is settled is not changed, and what comes out
 * as it did before is the same object.
 */
class Growing {
  readonly #all: WireMessage[];
  readonly #before: readonly WireMessage[];
  #length: number;
  #last: WireMessage | undefined;
  /** Whether the last message was made here and is not finished. */
  #isOpen = false;

  constructor(settled: readonly WireMessage[], before: readonly WireMessage[]) {
    this.#all = [...settled];
    this.#before = before;
    this.#length = settled.length;
    this.#last = settled.at(-1);
  }

  add(role: WireMessage["role"], content: readonly Block[]): void {
    if (content.length === 0) return;
    const last = this.#all.at(-1);
    if (last?.role !== role) {
      this.finish();
      this.#all.push({ role, content: [...content] });
    } else if (this.#isOpen) last.content.push(...content);
    else this.#all[this.#all.length - 1] = { role, content: [...last.content, ...content] };
    this.#isOpen = true;
  }

  /** All messages so far; none of them is changed any more. */
  finish(): WireMessage[] {
    const at = this.#all.length - 1;
    const [last, before] = [this.#all[at], this.#before[at]];
    if (this.#isOpen && last !== undefined && before !== undefined && isAlike(last, before))
      this.#all[at] = before;
    this.#isOpen = false;
    return this.#all;
  }

  settle(): void {
    this.#length = this.finish().length;
    this.#last = this.#all.at(-1);
  }

  settled(): readonly WireMessage[] {
    return this.#last === undefined ? [] : [...this.#all.slice(0, this.#length - 1), this.#last];
  }
}

function isAlike(a: WireMessage, b: WireMessage): boolean {
  return (
    a.role === b.role &&
    a.content.length === b.content.length &&
    a.content.every((block, at) => block === b.content[at])
  );
}

/** The blocks of each message, made once: messages never change, so cached sizes of the blocks stay valid. */
const made = new WeakMap<ContextMessage, { readonly maker: string; readonly blocks: readonly Block[] }>();

function once(message: ContextMessage, make: () => readonly Block[], maker = ""): readonly Block[] {
  const known = made.get(message);
  if (known?.maker === maker) return known.blocks;
  const blocks = make();
  made.set(message, { maker, blocks });
  return blocks;
}

/** The blocks as the model sent them, without empty text, which providers refuse. */
function blocksOf(message: ContextMessage, maker: string): readonly Block[] {
  const { role, blocks, content, media = [] } = message;
  const sent = role === "assistant" ? blocks : undefined;
  const make = (): readonly Block[] => {
    const whole = sent?.filter((block) => block.type !== "text" || block.text !== "");
    return whole === undefined ? [...textBlocks(content), ...media] : readableBy(maker, whole);
  };
  return once(message, make, maker);
}

function textBlocks(text: string): Block[] {
  return text === "" ? [] : [{ type: "text", text }];
}

function pairedResults(blocks: readonly Block[], results: ContextMessage[]): readonly Block[] {
  return callsOf(blocks).flatMap(({ id }) => {
    const at = results.findIndex((result) => result.tool_call_id === id);
    const result = results.splice(at, at === -1 ? 0 : 1)[0];
    return result === undefined
      ? resultBlock(id, UNKNOWN_RESULT)
      : once(result, () => resultBlock(id, result));
  });
}

function resultBlock(id: string, { content, media, is_error }: ContextMessage): Block[] {
  const error = is_error === true ? { is_error: true } : {};
  const shown = media === undefined ? {} : { media };
  return [{ type: "tool_result", tool_use_id: id, content, ...error, ...shown }];
}
