// How a changeset becomes lines of a CHANGELOG.md: its text without the commit, and no list of commits for dependencies.
module.exports = {
  getReleaseLine({ summary }) {
    const text = summary.trim();
    // A text with paragraphs or a list of its own stands as it is.
    return Promise.resolve(text.includes('\n') ? text : `- ${text}`);
  },
  getDependencyReleaseLine(_changesets, updated) {
    const names = updated.map(({ name, newVersion }) => `\`${name}\` ${newVersion}`);
    return Promise.resolve(names.length === 0 ? '' : `- Needs ${names.join(', ')}.`);
  },
};
