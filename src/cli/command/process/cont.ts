import { SIGNALS } from "../../../abi/process.ts";
import type { Command } from "../../command.ts";
import { signalCommand } from "./signal-process.ts";

export const cont: Command = signalCommand("cont", SIGNALS.SIGRESUME);
