/** A connection that ended between a request and its answer: the request may have taken effect anyway. */
import { Fault } from "../../abi/errors.ts";
import type { MethodName } from "../../abi/methods/methods.ts";

/** What may have happened. */
const EFFECTS: Partial<Record<MethodName, string>> = {
  spawn: "the process may have been started",
  "process.fork": "the fork may have been made",
  "process.rewind": "it may have been rewound",
  "process.resume": "the process may have been resumed",
  "mail.send": "the message may have been sent",
  "session.say": "the message may have been sent",
  "compose.up": "the project may have been started",
  "mcp.mount": "the server may have been mounted",
  "mcp.unmount": "the server may have been unmounted",
  "ask.answer": "the answer may have been given",
  kill: "the signal may have been sent",
  "process.signal": "the signal may have been sent",
  "group.join": "the process may be in the group",
  "group.leave": "the process may have left the group",
  "group.signal": "the signal may have been sent",
};

/** Not a refusal: the daemon gave no answer. */
export class CutOff extends Fault {
  constructor(method: MethodName) {
    const message = "daemon closed the connection";
    const effect = EFFECTS[method];
    if (effect === undefined) super({ code: "UNAVAILABLE", message, fact: { kind: "stopping" } });
    else
      super({
        code: "UNAVAILABLE",
        message: `${message} before it answered: ${effect}`,
        fact: { kind: "cut_off", method },
      });
  }
}
