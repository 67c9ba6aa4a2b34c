/** The keys of the page, as its help lists them. */

const MOD = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl';

export const SHORTCUTS: readonly (readonly [string, string])[] = [
  [`${MOD}+Enter`, 'Run everything, or what is marked'],
  [`${MOD}+Shift+Enter`, 'Run the statement that the cursor is in'],
  [`${MOD}+.`, 'Cancel'],
  [`${MOD}+Space`, 'Complete; Tab or Enter accepts'],
  [`${MOD}+Shift+E`, 'Explain: the plan, without running'],
  [`${MOD}+Shift+P`, 'Profile: run, and show the plan with rows and times'],
  [`${MOD}+↑ and ${MOD}+↓`, 'Earlier and later queries'],
  [`${MOD}+S`, 'Save the query'],
  ['Shift+Alt+F', 'Lay the text out'],
  [`${MOD}+F`, 'Find and replace'],
  ['F8', 'Go to the next problem'],
  ['In the picture', 'Arrows pan, + and − zoom, 0 fits, N and P go through the nodes, Enter expands, Delete hides'],
];
