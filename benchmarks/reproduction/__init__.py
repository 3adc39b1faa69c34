"""The paper's comparison in stages: five models trained at several budgets, then judged; stages may run anywhere."""
