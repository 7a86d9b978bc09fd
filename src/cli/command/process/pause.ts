import { SIGNALS } from "../../../abi/process.ts";
import type { Command } from "../../command.ts";
import { signalCommand } from "./signal-process.ts";

export const pause: Command = signalCommand("pause", SIGNALS.SIGPAUSE);
