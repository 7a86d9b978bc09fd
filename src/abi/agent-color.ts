/** The colours that an agent file may name, in which lists on a screen show its agents. */
export const AGENT_COLORS = ["red", "blue", "green", "yellow", "purple", "orange", "pink", "cyan"] as const;
export type AgentColor = (typeof AGENT_COLORS)[number];
