/** The icon of the project: entries of a ledger, and one that is handed out beside it. */
const drawing = `
  <rect width="32" height="32" rx="7" fill="#12324a"/>
  <g fill="#fff">
    <rect x="6" y="8" width="12" height="3" rx="1.5"/>
    <rect x="6" y="14.5" width="9" height="3" rx="1.5"/>
    <rect x="6" y="21" width="12" height="3" rx="1.5"/>
  </g>
  <path d="M17.5 16h4" stroke="#4fd1b5" stroke-width="2"/>
  <circle cx="24" cy="16" r="3.5" fill="#4fd1b5"/>
`;

export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${drawing}</svg>`;

/** The icon with the name of the project, in white for a dark background. */
export const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 152 32" width="152" height="32">
  <title>offledger</title>${drawing}
  <text x="42" y="23" fill="#fff" font-family="Helvetica, Arial, sans-serif" font-size="22" font-weight="600">
    offledger
  </text>
</svg>`;
