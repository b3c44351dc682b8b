export const overview = {
  title: 'Overview',
  question: 'Where does the time of a step go?',
  headline: (time: string, parts: string) => `A step takes ${time}: ${parts}.`,
  part: (share: string, name: string) => `${share} ${name}`,
  list: (parts: readonly string[]) => parts.join(', '),
  steps: (count: number) => `Mean of ${count} ${count === 1 ? 'step' : 'steps'}`,
  hostBasis: 'No device work was recorded: this is the time of the main training thread.',
  budget: 'Step budget',
  stepTrace: 'Step trace',
  average: 'The average step',
  noSteps: 'No step was recorded',
  noStepsHow: 'Steps come from markers. Mark the end of each step in the training loop:',
}
