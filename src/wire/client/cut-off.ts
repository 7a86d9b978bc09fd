/** A connection that ended between a request and its answer: the request may have taken effect anyway. */
import { Fault } from "../../abi/errors.ts";
import type { MethodName } from "../../abi/methods/methods.ts";

/** What may have happened, and how to check it. */
const EFFECTS: Partial<Record<MethodName, readonly [what: string, look: string]>> = {
  spawn: ["the process may have been started", "crux ps shows whether it was, before you start it again"],
  "process.fork": [
    "the fork may have been made",
    "crux ps and crux sessions show whether it was, before you fork again",
  ],
  "process.rewind": [
    "it may have been rewound",
    "crux rewind --dry-run shows what is left to do, crux sessions a fork",
  ],
  "process.resume": ["the process may have been resumed", "crux ps shows whether it was"],
  "mail.send": [
    "the message may have been sent",
    "crux logs <pid> shows what it has read, before you send it again",
  ],
  "session.say": [
    "the message may have been sent",
    "crux -r <pid> shows whether it was, before you send it again",
  ],
  "compose.up": [
    "the project may have been started",
    "crux compose ps shows whether it was, before you start it again",
  ],
  "mcp.mount": ["the server may have been mounted", "crux mcp list shows whether it was"],
  "mcp.unmount": ["the server may have been unmounted", "crux mcp list shows whether it was"],
  "ask.answer": [
    "the answer may have been given",
    "crux attach <pid> shows whether the question is still open",
  ],
  kill: ["the signal may have been sent", "crux ps shows what it came to"],
  "process.signal": ["the signal may have been sent", "crux ps shows what it came to"],
  "group.join": ["the process may be in the group", "crux groups shows who is in it"],
  "group.leave": ["the process may have left the group", "crux groups shows who is in it"],
  "group.signal": ["the signal may have been sent", "crux ps shows what it came to"],
};

/** Not a refusal: the daemon gave no answer. */
export class CutOff extends Fault {
  constructor(method: MethodName) {
    const message = "daemon closed the connection";
    const effect = EFFECTS[method];
    if (effect === undefined) super({ code: "UNAVAILABLE", message, fact: { kind: "stopping" } });
    else {
      const [what, hint] = effect;
      super({ code: "UNAVAILABLE", message: `${message} before it answered: ${what}`, hint });
    }
  }
}
