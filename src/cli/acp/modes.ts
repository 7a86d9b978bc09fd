/** The permission modes, the models and their levels of effort as an editor offers them. */
import type { SessionConfigOption, SessionMode, SessionModeState } from "@agentclientprotocol/sdk";
import type { Effort } from "../../abi/llm.ts";
import type { PermissionMode } from "../../abi/process.ts";

const MODES: Readonly<Record<PermissionMode, Omit<SessionMode, "id">>> = {
  default: { name: "Default", description: "asks before it changes anything" },
  accept_edits: { name: "Accept edits", description: "changes files of the folder without asking" },
  plan: { name: "Plan", description: "reads and plans; changes nothing before the plan is approved" },
  auto: { name: "Auto", description: "a model judges what would ask" },
  dont_ask: { name: "Don't ask", description: "refuses what would ask" },
  bypass: { name: "Bypass", description: "all but what is denied" },
};

/** In the order in which editors show them. */
const ORDER: readonly PermissionMode[] = ["default", "accept_edits", "plan", "auto", "dont_ask"];

/** `withBypass`: `crux acp` was started with it. */
export function modeState(current: PermissionMode, withBypass: boolean): SessionModeState {
  const offered = withBypass || current === "bypass" ? [...ORDER, "bypass" as const] : ORDER;
  return { currentModeId: current, availableModes: offered.map((id) => ({ id, ...MODES[id] })) };
}

/** `current`: as `process.model` takes it; `ready`: the known models of the drivers that are set up. */
interface ModelChoices {
  readonly current: string;
  readonly ready: readonly string[];
  /** undefined: nothing was chosen here. */
  readonly effort: Effort | undefined;
  /** What the model takes. */
  readonly efforts: readonly Effort[];
}

/** Stands for the effort that the agent, the settings or another client have chosen. */
export const UNCHANGED = "unchanged";

export function configOptions(
  current: PermissionMode,
  withBypass: boolean,
  { current: model, ready, effort, efforts }: ModelChoices,
): SessionConfigOption[] {
  const { availableModes, currentModeId: currentValue } = modeState(current, withBypass);
  const options = availableModes.map(({ id: value, name, description = "" }) => ({
    value,
    name,
    description,
  }));
  return [
    {
      type: "select",
      id: "mode",
      name: "Mode",
      description: "What it may do without asking",
      category: "mode",
      currentValue,
      options,
    },
    {
      type: "select",
      id: "model",
      name: "Model",
      description: "What answers from the next message on",
      category: "model",
      currentValue: model,
      options: namesOf(model, ready),
    },
    ...(efforts.length === 0
      ? []
      : [
          {
            type: "select" as const,
            id: "thought_level",
            name: "Effort",
            description: "How much the model is asked to think from the next message on",
            category: "thought_level",
            currentValue: effort ?? UNCHANGED,
            options: namesOf(effort ?? UNCHANGED, efforts),
          },
        ]),
  ];
}

function namesOf(current: string, others: readonly string[]): { value: string; name: string }[] {
  return [...new Set([current, ...others])].map((value) => ({ value, name: value }));
}
