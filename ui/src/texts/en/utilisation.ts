export const utilisation = {
  title: 'Utilisation',
  question: 'How busy are the devices, and what is hidden behind compute?',
}
