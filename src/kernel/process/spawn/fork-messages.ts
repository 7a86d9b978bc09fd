/** What a fork that a call of a model starts is told after the messages of its parent. */
import { FORK_TAG } from "../../../abi/child.ts";
import type { ForkWish } from "../../../abi/fork.ts";
import type { ContextMessage } from "../../../abi/sys.ts";
import type { Process } from "../process.ts";
import { worktreeFacet } from "../tree/worktree.ts";

/** The same for every fork, so that those of one reply share all bytes up to their directive. */
const FORKED_RESULT = "This call goes on in the process that you are a fork of.";

const BOILERPLATE =
  "You are a fork: a process of your own, with the conversation above as your past. The process you come from goes on " +
  "without you and gets only your last message. Do what the directive says and nothing else, yourself: you cannot fork, and " +
  "nobody reads what you say before the end. End with what you did or found: facts, files and lines, what is left open.";

const IN_TREE =
  "You work in a git worktree of your own: a path below the folder where the conversation above took place now means the " +
  "same path below your working directory. It has the last commit, without what is not committed: read a file again before " +
  "you change it, and commit what is to stay.";

interface Directive {
  readonly directive: string;
  /** Where it works, if that is not where its parent does. */
  readonly worktree?: string | undefined;
}

/** Those that its own history begins with: an internal fork has no more than its intent. */
export function messagesOfFork({
  seed: { fork = { label: "" }, child, intent },
  facts,
}: Process): readonly ContextMessage[] {
  if (child === undefined) return [{ role: "user", content: intent }];
  return forkMessages(fork, { directive: intent, worktree: facts.of(worktreeFacet)?.path });
}

/** The reply in progress, an answer to each of its calls, and the directive. */
function forkMessages(
  { reply = [] }: Pick<ForkWish, "reply">,
  { directive, worktree }: Directive,
): readonly ContextMessage[] {
  const texts = reply.flatMap((block) => (block.type === "text" && block.text !== "" ? [block.text] : []));
  const calls = reply.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
  const tree = worktree === undefined ? "" : `\n\n(Your working directory is ${worktree}. ${IN_TREE})`;
  const content = `<${FORK_TAG}>\n${BOILERPLATE}\n</${FORK_TAG}>\n\n${directive}${tree}`;
  return [
    ...(reply.length === 0 ? [] : [{ role: "assistant" as const, content: texts.join("\n"), blocks: reply }]),
    ...calls.map((id) => ({ role: "tool" as const, content: FORKED_RESULT, tool_call_id: id })),
    { role: "user", content },
  ];
}
